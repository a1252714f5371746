#include "server-mock/access/access.hpp"

#include <catch2/catch.hpp>

#include "tests/server-mock/wire.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

RawAnswer me(Wire& wire, const std::string& token) { return wire.ask({.target = "/v1/me", .token = token}); }

ApplicationOptions with(AuthMode mode) {
  ApplicationOptions options;
  options.sandbox.auth = mode;
  return options;
}

}  // namespace

TEST_CASE("access: a key is missing, unknown, revoked or expired, and 401 says which", "[server-mock]") {
  Wire wire;
  CHECK(code_of(wire.ask({.target = "/v1/me"})) == "missing_credential");
  CHECK(code_of(wire.ask({.target = "/v1/me", .headers = {"Authorization: Basic abc"}})) == "invalid_credential");
  CHECK(code_of(wire.ask({.target = "/v1/me", .headers = {"Authorization: Bearer a b"}})) == "invalid_credential");
  CHECK(code_of(me(wire, "wsk_nobody")) == "invalid_credential");
  const std::string key = wire.key({{"expires_in", 60}});
  CHECK(me(wire, key).status == 200);
  CHECK(parse(me(wire, key)).at("credential").at("expires_at") == "2026-11-20T10:01:00.000Z");
  wire.advance(60);
  CHECK(code_of(me(wire, key)) == "expired_credential");
  CHECK(me(wire, key).header("www-authenticate") == "Bearer realm=\"workspace\"");
}

TEST_CASE("access: a key that revokes itself stops working", "[server-mock]") {
  Wire wire;
  const std::string key = wire.key(Json::object());
  const RawAnswer revoked = wire.ask({.method = "POST", .target = "/v1/auth/credentials/current:revoke", .token = key});
  CHECK(revoked.status == 200);
  CHECK(parse(revoked).at("ok") == true);
  CHECK(parse(revoked).at("revoked_at") == "2026-11-20T10:00:00.000Z");
  CHECK(code_of(me(wire, key)) == "revoked_credential");
  CHECK(me(wire, wire.token()).status == 200);
}

TEST_CASE("access: a key that is revoked or expires between two calls is refused at the second", "[server-mock]") {
  Wire wire;
  const std::string verb = GENERATE("revoke", "expire");
  const Json made = wire.control("POST", "/keys", Json::object(), 201);
  const std::string key = made.at("secret");
  CHECK(me(wire, key).status == 200);
  wire.control("POST", "/keys/" + made.at("key_id").get<std::string>() + ":" + verb, nullptr, 204);
  CHECK(me(wire, key).status == 401);
}

TEST_CASE("access: a role that changes between two calls counts at the second", "[server-mock]") {
  Wire wire;
  Json state = wire.control("GET", "/state");
  wire.new_document("by an owner");
  for (Json& member : state["tables"]["members"]) member["role"] = "viewer";
  wire.control("PUT", "/state", state);
  const RawAnswer refused = wire.ask({.method = "POST",
                                      .target = "/v1/documents",
                                      .token = wire.token(),
                                      .json = R"({"title": "by a viewer", "content": ""})"});
  CHECK(code_of(refused) == "insufficient_role");
}

TEST_CASE("access: a key is known in the snapshots that hold it, and in no other", "[server-mock]") {
  Wire wire;
  wire.control("POST", "/snapshots", {{"name", "before"}}, 201);
  const std::string key = wire.key(Json::object());
  wire.control("POST", "/snapshots", {{"name", "after"}}, 201);
  for (int round = 0; round < 2; ++round) {
    wire.control("POST", "/snapshots/after:restore");
    CHECK(me(wire, key).status == 200);
    wire.control("POST", "/snapshots/before:restore");
    CHECK(code_of(me(wire, key)) == "invalid_credential");
  }
}

TEST_CASE("access: a scope that the key lacks is named", "[server-mock]") {
  Wire wire;
  const std::string key = wire.key({{"scopes", {"documents:read"}}});
  CHECK(wire.ask({.target = "/v1/documents", .token = key}).status == 200);
  const RawAnswer refused =
      wire.ask({.method = "POST", .target = "/v1/documents", .token = key, .json = R"({"title": "t", "content": ""})"});
  CHECK(refused.status == 403);
  CHECK(code_of(refused) == "missing_scope");
  CHECK(parse(refused).at("required_scope") == "documents:write");
}

TEST_CASE("access: the role counts in the object's Workspace", "[server-mock]") {
  Wire wire;
  const BuiltIn& world = wire.built_in();
  // Mara owns the first Workspace and may only look at the second.
  const std::string bound = wire.key({{"workspace_id", world.other_workspace_id}});
  const RawRequest create = {.method = "POST",
                             .target = "/v1/projects",
                             .token = bound,
                             .json = dump(Json{{"title", "p"}, {"workspace_id", world.other_workspace_id}})};
  const RawAnswer refused = wire.ask(create);
  CHECK(refused.status == 403);
  CHECK(code_of(refused) == "insufficient_role");
  CHECK(parse(refused).at("required_role") == "editor");
  RawRequest roaming = create;
  roaming.token = wire.key({{"audience", "user"}});
  CHECK(wire.ask(roaming).status == 403);
  roaming.json = R"({"title": "p"})";
  CHECK(wire.ask(roaming).status == 201);
}

TEST_CASE("access: tests are not for a person's own key", "[server-mock]") {
  Wire wire;
  const std::string key = wire.key({{"audience", "user"}});
  CHECK(code_of(wire.ask({.target = "/v1/admin/tests/catalog", .token = key})) == "forbidden");
}

TEST_CASE("access: with --auth any some key is enough, with off none", "[server-mock]") {
  Wire any(with(AuthMode::any));
  CHECK(any.ask({.target = "/v1/me"}).status == 401);
  CHECK(parse(me(any, "whatever")).at("user").at("id") == any.built_in().user_id);
  Wire off(with(AuthMode::off));
  CHECK(off.ask({.target = "/v1/documents"}).status == 200);
  const std::string key = off.key({{"scopes", {"search:read"}}});
  CHECK(off.ask({.target = "/v1/documents", .token = key}).status == 403);
}
