#include "server-mock/pipeline/idempotency.hpp"

#include <catch2/catch.hpp>

#include "tests/server-mock/wire.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

const Json note = {{"title", "once"}, {"content", "text"}};

std::size_t documents(Wire& wire) { return wire.get("/v1/documents?limit=100").at("data").size(); }

}  // namespace

TEST_CASE("idempotency: the same key and request return the stored response and do nothing again", "[server-mock]") {
  Wire wire;
  const std::size_t before = documents(wire);
  const RawAnswer first = wire.send("POST", "/v1/documents", note, {"Idempotency-Key: k1"});
  // The order of members and the space between them are not part of the request.
  const RawAnswer second = wire.ask({.method = "POST",
                                     .target = "/v1/documents",
                                     .token = wire.token(),
                                     .json = R"({ "content": "text", "title": "once" })",
                                     .headers = {"idempotency-key: k1"}});
  CHECK(first.status == 201);
  CHECK(second.status == 201);
  CHECK(second.body == first.body);
  CHECK(first.header("idempotent-replayed").empty());
  CHECK(second.header("idempotent-replayed") == "true");
  CHECK(documents(wire) == before + 1);
}

TEST_CASE("idempotency: the same key with another request is 422", "[server-mock]") {
  Wire wire;
  wire.send("POST", "/v1/documents", note, {"Idempotency-Key: k1"});
  const RawAnswer other =
      wire.send("POST", "/v1/documents", {{"title", "x"}, {"content", ""}}, {"Idempotency-Key: k1"});
  CHECK(other.status == 422);
  CHECK(parse(other).at("detail").at(0).at("type") == "idempotency_key_reused");
  CHECK(wire.send("POST", "/v1/projects", {{"title", "x"}}, {"Idempotency-Key: k1"}).status == 422);
}

TEST_CASE("idempotency: a path is the same path however its colon is written", "[server-mock]") {
  Wire wire;
  const Json document = parse(wire.send("POST", "/v1/documents", note));
  const std::string node = "/v1/nodes/" + document.at("node_id").get<std::string>();
  const Json move = {{"parent_node_id", wire.built_in().project_node_id}};
  const RawAnswer first = wire.send("POST", node + ":move", move, {"Idempotency-Key: k"});
  const RawAnswer second = wire.send("POST", node + "%3Amove", move, {"Idempotency-Key: k"});
  CHECK(first.status == 200);
  CHECK(second.status == 200);
  CHECK(second.header("idempotent-replayed") == "true");
  CHECK(second.body == first.body);
}

TEST_CASE("idempotency: a key is forgotten after 24 hours, and belongs to its owner", "[server-mock]") {
  Wire wire;
  const std::string id = parse(wire.send("POST", "/v1/documents", note, {"Idempotency-Key: k"})).at("id");
  const std::string other = wire.key({{"user_id", wire.built_in().other_user_id}});
  const auto by_other = parse(wire.ask({.method = "POST",
                                        .target = "/v1/documents",
                                        .token = other,
                                        .json = dump(note),
                                        .headers = {"Idempotency-Key: k"}}));
  CHECK(by_other.at("id") != id);
  wire.advance(24 * 3600 - 1);
  CHECK(parse(wire.send("POST", "/v1/documents", note, {"Idempotency-Key: k"})).at("id") == id);
  wire.advance(1);
  CHECK(parse(wire.send("POST", "/v1/documents", note, {"Idempotency-Key: k"})).at("id") != id);
}

TEST_CASE("idempotency: an error response does not use up the key", "[server-mock]") {
  Wire wire;
  CHECK(wire.send("POST", "/v1/documents", {{"title", ""}}, {"Idempotency-Key: k"}).status == 422);
  Json nowhere = note;
  nowhere["parent_node_id"] = "019b76da-a800-7a7b-9527-47438ee725fe";
  CHECK(wire.send("POST", "/v1/documents", nowhere, {"Idempotency-Key: k"}).status == 404);
  CHECK(wire.send("POST", "/v1/documents", note, {"Idempotency-Key: k"}).status == 201);
}

TEST_CASE("idempotency: authorization is re-checked before a stored response, and a replay consumes no ids",
          "[server-mock]") {
  Wire wire;
  const std::string strong = wire.key({{"user_id", wire.built_in().other_user_id}});
  Json there = note;
  there["project_id"] = wire.built_in().project_id;
  const RawRequest request = {.method = "POST",
                              .target = "/v1/documents",
                              .token = strong,
                              .json = dump(there),
                              .headers = {"Idempotency-Key: k"}};
  REQUIRE(wire.ask(request).status == 201);
  CHECK(wire.ask(request).header("idempotent-replayed") == "true");
  const std::string weak = wire.key({{"user_id", wire.built_in().other_user_id}, {"scopes", {"documents:read"}}});
  RawRequest weaker = request;
  weaker.token = weak;
  CHECK(wire.ask(weaker).status == 403);

  Wire untouched;
  untouched.key({{"user_id", untouched.built_in().other_user_id}});
  REQUIRE(untouched.ask(request).status == 201);
  CHECK(untouched.new_document("next") == wire.new_document("next"));
}

TEST_CASE("idempotency: a key whose owner lost the role gets 403 instead of the stored response", "[server-mock]") {
  Wire wire;
  const std::string editor = wire.built_in().other_user_id;
  RawRequest request = {.method = "POST",
                        .target = "/v1/documents",
                        .token = wire.key({{"user_id", editor}, {"workspace_id", wire.built_in().workspace_id}}),
                        .headers = {"Idempotency-Key: k"}};
  Json body = note;
  body["project_id"] = wire.built_in().project_id;
  request.json = dump(body);
  REQUIRE(wire.ask(request).status == 201);
  CHECK(wire.ask(request).header("idempotent-replayed") == "true");
  REQUIRE(wire.world().database.execute("update members set role = 'viewer' where user_id = '" + editor + "'"));
  const RawAnswer refused = wire.ask(request);
  CHECK(refused.status == 403);
  CHECK(refused.header("idempotent-replayed").empty());
}

TEST_CASE("idempotency: an object that is no longer visible is 404 despite a stored response", "[server-mock]") {
  Wire wire;
  const std::string id = wire.new_document("t");
  const std::string node = wire.get("/v1/documents/" + id).at("node_id");
  const Json place = {{"parent_node_id", wire.built_in().project_node_id}};
  const auto move = [&] { return wire.send("POST", "/v1/nodes/" + node + ":move", place, {"Idempotency-Key: k"}); };
  CHECK(move().status == 200);
  CHECK(move().header("idempotent-replayed") == "true");
  CHECK(wire.ask({.method = "DELETE", .target = "/v1/documents/" + id, .token = wire.token()}).status == 200);
  CHECK(move().status == 404);
}

TEST_CASE("idempotency: a key of another Workspace gets no stored response of this one", "[server-mock]") {
  Wire wire;
  const auto [target, body] =
      GENERATE(std::pair<std::string, Json>{"/v1/documents", note},
               std::pair<std::string, Json>{"/v1/projects", {{"title", "p"}}},
               std::pair<std::string, Json>{"/v1/questions", {{"prompt", "tide?"}, {"sources", {"workspace"}}}});
  CAPTURE(target);
  const auto ask = [&, target = target, body = body](const std::string& workspace_id) {
    const std::string key = wire.key({{"user_id", wire.built_in().other_user_id}, {"workspace_id", workspace_id}});
    return wire.ask(
        {.method = "POST", .target = target, .token = key, .json = dump(body), .headers = {"Idempotency-Key: k"}});
  };
  REQUIRE(ask(wire.built_in().workspace_id).status < 300);
  CHECK(ask(wire.built_in().workspace_id).header("idempotent-replayed") == "true");
  CHECK(ask(wire.built_in().other_workspace_id).status == 404);
}

TEST_CASE("idempotency: a stored answer quotes no document that became private", "[server-mock]") {
  Wire wire;
  const Json draft = {{"title", "Budget"},
                      {"content", "# Budget\n\nThe zeppelin costs 99 crowns."},
                      {"project_id", wire.built_in().project_id}};
  const Json document = parse(wire.send("POST", "/v1/documents", draft));
  const std::string editor = wire.key({{"user_id", wire.built_in().other_user_id}});
  const auto ask = [&] {
    return wire.ask({.method = "POST",
                     .target = "/v1/questions",
                     .token = editor,
                     .json = R"({"prompt": "What does the zeppelin cost?", "sources": ["workspace"]})",
                     .headers = {"Idempotency-Key: k"}});
  };
  REQUIRE(parse(ask()).at("citations").size() == 1);
  CHECK(ask().header("idempotent-replayed") == "true");
  const std::string node = document.at("node_id");
  REQUIRE(wire.send("POST", "/v1/nodes/" + node + ":move", {{"parent_node_id", nullptr}}).status == 200);
  CHECK(ask().status == 404);
}
