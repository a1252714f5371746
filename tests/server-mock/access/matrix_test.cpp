#include <algorithm>

#include <catch2/catch.hpp>

#include "api-client/contract/operations.hpp"
#include "tests/server-mock/access/things.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

constexpr const char* roles[] = {"viewer", "commenter", "editor", "admin", "owner"};

std::ptrdiff_t rank(std::string_view role) { return std::ranges::find(roles, role) - std::begin(roles); }

/// A call with every violation that validation detects.
RawRequest broken(const AccessRule& rule) {
  std::string path(rule.path);
  for (std::size_t open = path.find('{'); open != std::string::npos; open = path.find('{')) {
    path.replace(open, path.find('}') - open + 1, "no-uuid");
  }
  return {.method = std::string(rule.method), .target = path + "?limit=0", .json = rule.body.empty() ? "" : "{"};
}

/// Whether `broken` violates the rules of this operation.
bool can_be_broken(const AccessRule& rule) {
  const bool names = rule.path.find('{') != std::string_view::npos;
  const bool pages = rule.id.ends_with("list") && rule.id != "workspaces.list" && rule.id != "agents.list" &&
                     rule.id != "comments.list";
  return names || pages || !rule.body.empty();
}

RawAnswer with(Wire& wire, RawRequest request, const std::string& token) {
  request.token = token;
  return wire.ask(request);
}

/// Every scope but one.
Json scopes_without(std::string_view scope) {
  Json scopes = Json::array();
  for (const std::string_view each : contract::all_scopes) {
    if (each != scope) scopes.push_back(each);
  }
  return scopes;
}

void set_role(Wire& wire, const std::string& workspace_id, const std::string& user_id, const char* role) {
  auto row = wire.world().database.cached("update members set role = ? where workspace_id = ? and user_id = ?");
  REQUIRE(row);
  (*row)->bind_all(role, workspace_id, user_id);
  REQUIRE((*row)->run());
}

void leave(Wire& wire, const std::string& workspace_id, const std::string& user_id) {
  auto row = wire.world().database.cached("delete from members where workspace_id = ? and user_id = ?");
  REQUIRE(row);
  (*row)->bind_all(workspace_id, user_id);
  REQUIRE((*row)->run());
}

std::string agent_key(Wire& wire, const std::string& agent_id) {
  // More than any permission grants: the agent's state decides, not its scopes.
  return wire.key({{"agent_id", agent_id}});
}

void set_agent(Wire& wire, const std::string& agent_id, const char* status) {
  REQUIRE(wire.send("PATCH", "/v1/agents/" + agent_id, {{"status", status}}).status == 200);
}

/// An error response contains nothing of the object.
void check_silent(const RawAnswer& answer) {
  for (const char* word : {"Hull", "barnacles", "Rigging", "rigging"}) {
    CHECK(answer.body.find(word) == std::string::npos);
  }
}

}  // namespace

TEST_CASE("access matrix: every operation has one rule, and the two agree", "[server-mock]") {
  CHECK(access_rules().size() == contract::operations().size());
  for (const AccessRule& rule : access_rules()) {
    CAPTURE(rule.id);
    const contract::Operation* operation = contract::find_operation(rule.id);
    REQUIRE(operation != nullptr);
    CHECK(operation->scope == rule.scope);
    CHECK(contract::name(operation->role) == (rule.role.empty() ? "none" : rule.role));
    CHECK((operation->auth == contract::Auth::none) == needs_no_key(rule));
  }
}

TEST_CASE("access matrix: without a valid key every operation but the device login is 401, and says why",
          "[server-mock]") {
  Wire wire;
  const Things things(wire);
  const Json expiring = wire.control("POST", "/keys", {{"expires_in", 60}}, 201);
  const Json revoked = wire.control("POST", "/keys", Json::object(), 201);
  wire.control("POST", "/keys/" + revoked.at("key_id").get<std::string>() + ":revoke", nullptr, 204);
  wire.control("POST", "/keys/" + expiring.at("key_id").get<std::string>() + ":expire", nullptr, 204);
  const std::string agent = agent_key(wire, things["agent"]);
  set_agent(wire, things["agent"], "revoked");
  for (const AccessRule& rule : access_rules()) {
    CAPTURE(rule.id);
    if (needs_no_key(rule)) {
      CHECK(things.ask(rule, "").status != 401);
      CHECK(things.ask(rule, "wsk_unknown").status != 401);
      continue;
    }
    // Every violation at once, so that only the key can be the reason.
    RawRequest request = broken(rule);
    CHECK(code_of(with(wire, request, "")) == "missing_credential");
    CHECK(code_of(with(wire, request, "wsk_unknown")) == "invalid_credential");
    CHECK(code_of(with(wire, request, expiring.at("secret"))) == "expired_credential");
    CHECK(code_of(with(wire, request, revoked.at("secret"))) == "revoked_credential");
    CHECK(code_of(with(wire, request, agent)) == "revoked_credential");
    for (const char* malformed : {"Basic abc", "Bearer", "Bearer ", "Bearer a b", "wsk_naked", "Token x"}) {
      request.headers = {std::string("Authorization: ") + malformed};
      const RawAnswer answer = wire.ask(request);
      CHECK(answer.status == 401);
      CHECK(code_of(answer) == "invalid_credential");
      CHECK(answer.header("www-authenticate") == "Bearer realm=\"workspace\"");
    }
  }
}

TEST_CASE("access matrix: a key without the operation's scope is 403 and told which", "[server-mock]") {
  Wire wire;
  wire.control("PATCH", "/assumptions", {{"workspace_create", "visible"}});  // else that needs a key for all Workspaces
  const Things things(wire);
  for (const AccessRule& rule : access_rules()) {
    CAPTURE(rule.id);
    if (needs_no_key(rule)) continue;
    if (rule.scope.empty()) {
      if (rule.id != "auth.revoke") CHECK(things.ask(rule, wire.key({{"scopes", Json::array()}})).status == 200);
      continue;
    }
    const RawAnswer refused = with(wire, broken(rule), wire.key({{"scopes", scopes_without(rule.scope)}}));
    CHECK(refused.status == 403);
    CHECK(code_of(refused) == "missing_scope");
    CHECK(find_text(parse(refused), "required_scope") == rule.scope);
    check_silent(things.ask(rule, wire.key({{"scopes", scopes_without(rule.scope)}})));
    const RawAnswer alone = things.ask(rule, wire.key({{"scopes", {rule.scope}}}));
    INFO(alone.body);
    CHECK(alone.status != 401);
    CHECK(alone.status != 403);
  }
}

TEST_CASE("access matrix: a role too low is 403 and told which, by the key's ceiling and by the membership alike",
          "[server-mock]") {
  const bool by_membership = GENERATE(false, true);
  CAPTURE(by_membership);
  Wire wire;
  const Things things(wire);
  const std::string roaming = wire.key({{"audience", "user"}});
  for (const char* role : roles) {
    CAPTURE(role);
    if (by_membership) set_role(wire, things["workspace"], wire.built_in().user_id, role);
    const std::string key = by_membership ? wire.token() : wire.key({{"role", role}});
    for (const AccessRule& rule : access_rules()) {
      CAPTURE(rule.id);
      if (rule.role.empty() || needs_no_key(rule)) continue;
      const RawAnswer answer = with(wire, broken(rule), key);
      if (rank(role) >= rank(rule.role)) {
        CHECK(answer.status != 403);
        continue;
      }
      CHECK(answer.status == 403);
      CHECK(code_of(answer) == "insufficient_role");
      CHECK(find_text(parse(answer), "required_role") == rule.role);
    }
  }
  set_role(wire, things["workspace"], wire.built_in().user_id, "owner");
  CHECK(wire.ask({.target = "/v1/documents/" + things["document"], .token = roaming}).status == 200);
}

TEST_CASE("access matrix: a person's own key has the role of the object's Workspace, not of the first one",
          "[server-mock]") {
  Wire wire;
  const Things things(wire);
  const BuiltIn& world = wire.built_in();
  // Mara owns the first Workspace and may only look at the second.
  const std::string mara = wire.key({{"audience", "user"}});
  const std::string tomas = wire.key({{"audience", "user"}, {"user_id", world.other_user_id}});
  const auto in_the_second = [&](const std::string& key) {
    return wire.ask({.method = "POST",
                     .target = "/v1/projects",
                     .token = key,
                     .json = dump(Json{{"title", "p"}, {"workspace_id", world.other_workspace_id}})});
  };
  CHECK(code_of(in_the_second(mara)) == "insufficient_role");
  const RawAnswer made = in_the_second(tomas);
  CHECK(made.status == 201);
  const Json draft = {{"title", "t"}, {"content", "c"}, {"project_id", parse(made).at("id")}};
  const RawAnswer document =
      wire.ask({.method = "POST", .target = "/v1/documents", .token = tomas, .json = dump(draft)});
  REQUIRE(document.status == 201);
  const std::string path = "/v1/documents/" + parse(document).at("id").get<std::string>();
  CHECK(wire.ask({.target = path, .token = mara}).status == 200);
  for (const AccessRule& rule : access_rules()) {
    if (!rule.path.starts_with("/v1/documents/{document}") || rule.role == "viewer") continue;
    if (rule.path.find("{thread}") != std::string_view::npos) continue;
    CAPTURE(rule.id);
    const std::string target =
        path + std::string(rule.path.substr(std::string_view("/v1/documents/{document}").size()));
    const RawAnswer answer =
        wire.ask({.method = std::string(rule.method), .target = target, .token = mara, .json = std::string(rule.body)});
    CHECK(answer.status == 403);
    CHECK(code_of(answer) == "insufficient_role");
  }
}

TEST_CASE("access matrix: what names no place is made in the key's own Workspace, with the role there",
          "[server-mock]") {
  const std::string audience = GENERATE("user", "platform_admin");
  CAPTURE(audience);
  Wire wire;
  const Things things(wire);
  // Tomás may only look at the first Workspace, and owns the second.
  set_role(wire, things["workspace"], wire.built_in().other_user_id, "viewer");
  const std::string key = wire.key({{"audience", audience}, {"user_id", wire.built_in().other_user_id}});
  for (const AccessRule& rule : access_rules()) {
    CAPTURE(rule.id);
    const bool names = rule.path.find('{') != std::string_view::npos || rule.body.find("\"{") != std::string_view::npos;
    if (names || rule.method != "POST" || rule.role.empty() || rule.role == "viewer") continue;
    if (is_test_control(rule) && audience == "user") continue;
    const RawAnswer answer = things.ask(rule, key);
    CHECK(answer.status == 403);
    CHECK(code_of(answer) == "insufficient_role");
  }
}

TEST_CASE("access matrix: a paused agent is 403 everywhere but in discovery, identity and revoke", "[server-mock]") {
  Wire wire;
  const Things things(wire);
  const std::string key = agent_key(wire, things["agent"]);
  set_agent(wire, things["agent"], "paused");
  for (const AccessRule& rule : access_rules()) {
    CAPTURE(rule.id);
    if (needs_no_key(rule) || rule.id == "auth.revoke") continue;
    if (is_open_to_paused(rule)) {
      CHECK(things.ask(rule, key).status == 200);
      continue;
    }
    const RawAnswer answer = with(wire, broken(rule), key);
    CHECK(answer.status == 403);
    CHECK(code_of(answer) == "agent_paused");
  }
  set_agent(wire, things["agent"], "active");
  CHECK(wire.ask({.target = "/v1/documents", .token = key}).status == 200);
  set_agent(wire, things["agent"], "paused");
  CHECK(wire.ask({.method = "POST", .target = "/v1/auth/credentials/current:revoke", .token = key}).status == 200);
}

TEST_CASE("access matrix: former members have no access, nor do their agents", "[server-mock]") {
  Wire wire;
  const Things things(wire);
  const std::string agent = agent_key(wire, things["agent"]);
  leave(wire, things["workspace"], wire.built_in().user_id);
  for (const AccessRule& rule : access_rules()) {
    CAPTURE(rule.id);
    if (needs_no_key(rule) || rule.id == "auth.revoke" || rule.id == "workspaces.create") continue;
    for (const std::string& key : {wire.token(), agent}) {
      const RawAnswer answer = things.ask(rule, key);
      INFO(answer.body);
      check_silent(answer);
      if (rule.scope.empty()) {
        CHECK(answer.status == 200);
      } else {
        CHECK(answer.status == 403);
      }
    }
  }
  const Json me = wire.get("/v1/me");
  CHECK(me.at("workspace").is_null());
  // Mara is still in the second Workspace: her key of the first does not turn into one of that.
  CHECK(wire.get("/v1/workspaces").at("data").empty());
}

TEST_CASE("access matrix: test control is for keys of a Workspace or the platform", "[server-mock]") {
  Wire wire;
  const Things things(wire);
  const std::string own = wire.key({{"audience", "user"}});
  const std::string platform = wire.key({{"audience", "platform_admin"}});
  for (const AccessRule& rule : access_rules()) {
    if (!is_test_control(rule)) continue;
    CAPTURE(rule.id);
    CHECK(code_of(things.ask(rule, own)) == "forbidden");
    CHECK(things.ask(rule, own).status == 403);
    CHECK(things.ask(rule, platform).status < 300);
    CHECK(things.ask(rule, wire.token()).status < 300);
  }
}

TEST_CASE("access matrix: with auth_order=validation_first every invalid call is 422 before its key is checked",
          "[server-mock]") {
  ApplicationOptions options;
  REQUIRE(options.sandbox.assumptions.set("auth_order=validation_first"));
  Wire wire(options);
  const Things things(wire);
  const std::string poor = wire.key({{"scopes", Json::array()}});
  for (const AccessRule& rule : access_rules()) {
    CAPTURE(rule.id);
    if (rule.id == "auth.revoke") continue;  // it would work
    for (const std::string& key : {std::string(), poor}) {
      const RawAnswer answer = with(wire, broken(rule), key);
      if (can_be_broken(rule) && !is_test_control(rule)) {
        CHECK(answer.status == 422);
      }
      const bool refused_for_the_key = key.empty() ? !needs_no_key(rule) : !rule.scope.empty();
      if (refused_for_the_key) CHECK(things.ask(rule, key).status == (key.empty() ? 401 : 403));
    }
  }
}
