#include <catch2/catch.hpp>

#include "tests/server-mock/access/things.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

/// Fails if the response contains anything of the first Workspace.
void check_leaks_nothing(const RawAnswer& answer) {
  INFO(answer.body);
  for (const char* word : {"Hull", "barnacles", "Rigging", "rigging", "keel", "Keel"}) {
    CHECK(answer.body.find(word) == std::string::npos);
  }
}

}  // namespace

TEST_CASE("other Workspace: whatever a path or a body names there is 404, and nothing leaks", "[server-mock]") {
  Wire wire;
  const Things things(wire);
  // Tomás owns the second Workspace; this key sees no other, though he is an editor of the first.
  const std::string stranger =
      wire.key({{"user_id", wire.built_in().other_user_id}, {"workspace_id", wire.built_in().other_workspace_id}});
  for (const AccessRule& rule : access_rules()) {
    CAPTURE(rule.id);
    const bool names = rule.path.find('{') != std::string_view::npos || rule.body.find("\"{") != std::string_view::npos;
    if (needs_no_key(rule) || rule.id == "auth.revoke") continue;
    if (rule.id.starts_with("files.") && !things.has_files()) continue;
    const RawAnswer answer = things.ask(rule, stranger);
    check_leaks_nothing(answer);
    if (!names) continue;
    CHECK(answer.status == 404);
    CHECK(code_of(answer) == "not_found");
    // The same response as for an id that never existed.
    std::string path = things.fill(rule.path);
    std::string body = things.fill(rule.body);
    for (std::string* text : {&path, &body}) {
      for (const char* name : {"document",
                               "node",
                               "thread",
                               "question",
                               "conversation",
                               "asset",
                               "upload",
                               "source",
                               "plan",
                               "conflict",
                               "agent",
                               "event",
                               "run",
                               "file_operation"}) {
        for (std::size_t at = text->find(things[name]); at != std::string::npos; at = text->find(things[name])) {
          text->replace(at, 36, "019b76da-a800-7a7b-9527-474300000000");
        }
      }
    }
    const RawAnswer nothing =
        wire.ask({.method = std::string(rule.method), .target = path, .token = stranger, .json = body});
    CHECK(nothing.status == 404);
    CHECK(parse(nothing).at("detail") == parse(answer).at("detail"));
  }
}

TEST_CASE("other Workspace: its objects are 404 also where a body names them", "[server-mock]") {
  Wire wire;
  const Things things(wire);
  const std::string stranger =
      wire.key({{"user_id", wire.built_in().other_user_id}, {"workspace_id", wire.built_in().other_workspace_id}});
  const auto ask = [&](const std::string& method, const std::string& target, const Json& body) {
    return wire.ask({.method = method, .target = target, .token = stranger, .json = body.is_null() ? "" : dump(body)});
  };
  const RawAnswer made = ask("POST", "/v1/documents", {{"title", "mine"}, {"content", "mine"}});
  REQUIRE(made.status == 201);
  const std::string own_node = parse(made).at("node_id");
  const std::string own = "/v1/documents/" + parse(made).at("id").get<std::string>();
  const std::vector<std::tuple<std::string, std::string, Json>> calls = {
      {"POST", "/v1/projects", {{"title", "p"}, {"workspace_id", things["workspace"]}}},
      {"POST", "/v1/nodes/" + own_node + ":move", {{"parent_node_id", things["project_node"]}}},
      {"POST", "/v1/nodes/" + own_node + ":move", {{"parent_node_id", nullptr}, {"before_node_id", things["node"]}}},
      {"POST",
       "/v1/questions",
       {{"prompt", "p"}, {"sources", {"memory"}}, {"conversation_id", things["conversation"]}}},
      {"POST", "/v1/search", {{"query", "barnacles"}, {"project_id", things["project"]}}},
      {"POST", "/v1/documents", {{"title", "t"}, {"content", ""}, {"parent_node_id", things["project_node"]}}},
      {"POST", "/v1/documents", {{"title", "t"}, {"content", ""}, {"project_id", things["project"]}}},
      {"POST", own + "/shares", {{"agent_handle", "scout"}, {"permission", "read"}}},
      {"POST", "/v1/sync/sources", {{"name", "s"}, {"project_id", things["project"]}}},
      {"POST", "/v1/sync/sources", {{"name", "s"}, {"root_node_id", things["project_node"]}}},
      {"POST",
       "/v1/admin/tests/runs",
       {{"selection_kind", "suite"}, {"suite_id", "smoke"}, {"workspace_id", things["workspace"]}}},
  };
  for (const auto& [method, target, body] : calls) {
    CAPTURE(target, dump(body));
    const RawAnswer answer = ask(method, target, body);
    INFO(answer.body);
    CHECK(answer.status == 404);
    check_leaks_nothing(answer);
  }
  const RawAnswer reply = ask("POST", own + "/comments", {{"body", "x"}});
  const std::string replies = own + "/comments/" + parse(reply).at("id").get<std::string>() + "/replies";
  CHECK(ask("POST",
            replies,
            {{"body", "x"}, {"source_event_id", things["event"]}, {"source_event_lease_token", things["lease_token"]}})
            .status == 404);
  // A thread belongs to its document.
  CHECK(ask("POST", own + "/comments/" + things["thread"] + "/replies", {{"body", "x"}}).status == 404);
}

TEST_CASE("other Workspace: its objects are in no list, search, answer or citation", "[server-mock]") {
  Wire wire;
  const Things things(wire);
  const std::string stranger =
      wire.key({{"user_id", wire.built_in().other_user_id}, {"workspace_id", wire.built_in().other_workspace_id}});
  for (const char* path : {"/v1/documents?limit=100",
                           "/v1/questions",
                           "/v1/conversations",
                           "/v1/agents?include_revoked=true",
                           "/v1/workspaces",
                           "/v1/admin/tests/runs",
                           "/v1/files"}) {
    CAPTURE(path);
    const RawAnswer answer = wire.ask({.target = path, .token = stranger});
    check_leaks_nothing(answer);
    for (const char* name : {"document", "question", "conversation", "agent", "workspace", "run", "asset"}) {
      CHECK(answer.body.find(things[name]) == std::string::npos);
    }
  }
  // The prompt is echoed in the question; found texts must not be.
  const auto ask = [&](const std::string& target, const Json& body) {
    return parse(wire.ask({.method = "POST", .target = target, .token = stranger, .json = dump(body)}));
  };
  CHECK(ask("/v1/search", {{"query", "barnacles"}}).at("data").empty());
  const Json answer = ask("/v1/questions", {{"prompt", "Where are barnacles?"}, {"sources", {"workspace", "memory"}}});
  CHECK(answer.at("citations").empty());
  CHECK(answer.at("source_document_ids").empty());
}
