#include <catch2/catch.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/services/authorization/keys.hpp"
#include "tests/server-mock/services/service_world.hpp"

namespace ws::mock::test {
namespace {

Outcome create(ServiceWorld& world, const Caller& caller, std::string_view handle, Json more = Json::object()) {
  Json body = {{"handle", handle}, {"display_name", "An agent"}};
  body.update(more);
  return world.call("agents.create", caller, std::move(body));
}

Outcome update(ServiceWorld& world, const Caller& caller, const Json& agent_id, Json body) {
  return world.call("agents.update", caller, std::move(body), {{"agent_id", agent_id}});
}

Outcome rotate(ServiceWorld& world, const Caller& caller, const Json& agent_id) {
  return world.call("agents.rotate", caller, nullptr, {{"agent_id", agent_id}});
}

std::vector<std::string> handles(ServiceWorld& world, const Caller& caller, bool include_revoked = false) {
  const Outcome listed = world.call("agents.list", caller, nullptr, {{"include_revoked", include_revoked}});
  REQUIRE(listed.status == 200);
  std::vector<std::string> all;
  for (const Json& agent : listed.body.at("data")) all.push_back(agent.at("handle"));
  return all;
}

/// What the key behind a secret allows: null where it is unknown or revoked.
Json scopes_of(ServiceWorld& world, const Json& secret) {
  auto row = world.world->database.prepare("select scopes from keys where secret_sha256 = ? and revoked_at is null");
  row->bind(1, Sha256::of(secret.get<std::string>()).hex());
  return *row->step() ? *parse_bounded(row->text(0)) : Json(nullptr);
}

const Json read_scopes = {"questions:read",
                          "questions:write",
                          "search:read",
                          "documents:read",
                          "assets:read",
                          "sync:read",
                          "comments:read",
                          "agent_events:read",
                          "agent_events:write"};

}  // namespace

TEST_CASE("agents: creating one returns it with a secret that is shown only once", "[server-mock]") {
  ServiceWorld world;
  const Outcome made = create(world, world.tomas, "@helper", {{"permissions", {"comment", "read", "read"}}});
  REQUIRE(made.status == 201);
  CHECK(made.body.at("handle") == "helper");
  CHECK(made.body.at("owner_user_id") == world.built_in.other_user_id);
  CHECK(made.body.at("status") == "active");
  CHECK(made.body.at("provider") == "custom");
  CHECK(made.body.at("permissions") == Json{"read", "comment"});
  CHECK(made.body.at("last_seen_at").is_null());

  const Json& credential = made.body.at("credential");
  const std::string secret = credential.at("secret");
  CHECK(secret.starts_with("wsk_"));
  CHECK(secret.size() == 47);
  CHECK(secret.starts_with(credential.at("display_prefix").get<std::string>()));
  CHECK(credential.at("created_at") == "2026-11-20T10:00:00.000Z");
  CHECK(scopes_of(world, secret) == credential.at("scopes"));

  const Outcome listed = world.call("agents.list", world.mara, nullptr, {{"include_revoked", false}});
  REQUIRE(listed.body.at("data").size() == 2);
  CHECK_FALSE(listed.body.at("data")[1].contains("credential"));
}

TEST_CASE("agents: permissions are the ceiling of a credential's scopes", "[server-mock]") {
  ServiceWorld world;
  const auto scopes = [&](std::string_view handle, const Json& permissions) {
    return create(world, world.mara, handle, {{"permissions", permissions}}).body.at("credential").at("scopes");
  };
  CHECK(scopes("a", {"read"}) == read_scopes);
  CHECK(scopes("b", {"comment"}) == Json{"comments:write"});
  CHECK(scopes("c", {"edit"}) == Json{"documents:write", "assets:write", "sync:write"});
  CHECK(scopes("d", {"read", "comment", "edit"}).size() == 13);
  CHECK(create(world, world.mara, "e").body.at("permissions") == Json{"read"});
}

TEST_CASE("agents: a handle is unique in its Workspace, without case, also after revocation", "[server-mock]") {
  ServiceWorld world;
  CHECK(create(world, world.mara, "Scout").code == "handle_taken");
  REQUIRE(update(world, world.mara, world.built_in.agent_id, {{"status", "revoked"}}).status == 200);
  CHECK(create(world, world.mara, "scout").code == "handle_taken");
  Caller elsewhere = world.tomas;
  elsewhere.workspace_id = world.built_in.other_workspace_id;
  CHECK(create(world, elsewhere, "scout").status == 201);
}

TEST_CASE("agents: a person's handle is not an agent's", "[server-mock]") {
  ServiceWorld world;
  CHECK(create(world, world.mara, "Tomas").code == "handle_taken");
  CHECK(create(world, world.mara, "tomas2").status == 201);
}

TEST_CASE("agents: the list holds those of the caller's Workspaces, revoked ones when asked for", "[server-mock]") {
  ServiceWorld world;
  const Json helper = create(world, world.tomas, "helper").body.at("id");
  Caller elsewhere = world.tomas;
  elsewhere.workspace_id = world.built_in.other_workspace_id;
  create(world, elsewhere, "gardener");
  update(world, world.tomas, helper, {{"status", "revoked"}});

  Caller everywhere = world.tomas;
  everywhere.audience = Audience::user;
  CHECK(handles(world, world.tomas) == std::vector<std::string>{"scout"});
  CHECK(handles(world, world.tomas, true) == std::vector<std::string>{"scout", "helper"});
  CHECK(handles(world, elsewhere) == std::vector<std::string>{"gardener"});
  CHECK(handles(world, everywhere) == std::vector<std::string>{"scout", "gardener"});
  CHECK(handles(world, world.agent) == std::vector<std::string>{"scout"});
}

TEST_CASE("agents: an update changes what it names, null is unchanged", "[server-mock]") {
  ServiceWorld world;
  const Json id = world.built_in.agent_id;
  world.clock.time += std::chrono::seconds(1);
  const Json body = {{"display_name", "Pathfinder"}, {"avatar_url", "https://example.com/a.png"}, {"status", nullptr}};
  const Outcome changed = update(world, world.mara, id, body);
  REQUIRE(changed.status == 200);
  CHECK(changed.body.at("display_name") == "Pathfinder");
  CHECK(changed.body.at("status") == "active");
  CHECK(changed.body.at("updated_at") == "2026-11-20T10:00:01.000Z");

  world.clock.time += std::chrono::seconds(1);
  const Json nothing = {
      {"display_name", nullptr}, {"avatar_url", nullptr}, {"status", nullptr}, {"permissions", nullptr}};
  CHECK(update(world, world.mara, id, nothing).body == changed.body);
}

TEST_CASE("agents: owner and admins may change and rotate, other members get 403, strangers 404", "[server-mock]") {
  ServiceWorld world;
  const Json id = create(world, world.tomas, "helper").body.at("id");
  const Caller editor = world.add_person("eda", "editor");
  const Caller admin = world.add_person("ada", "admin");
  const auto both = [&](const Caller& caller) {
    return std::vector<int>{update(world, caller, id, {{"status", "paused"}}).status, rotate(world, caller, id).status};
  };
  CHECK(both(world.tomas) == std::vector{200, 200});
  CHECK(both(admin) == std::vector{200, 200});
  CHECK(both(editor) == std::vector{403, 403});
  CHECK(both(world.agent) == std::vector{403, 403});
  Caller elsewhere = world.tomas;
  elsewhere.workspace_id = world.built_in.other_workspace_id;
  CHECK(both(elsewhere) == std::vector{404, 404});
  CHECK(rotate(world, world.mara, "00000000-0000-7000-8000-000000000000").status == 404);
}

TEST_CASE("agents: a rotation revokes the old secret at once", "[server-mock]") {
  ServiceWorld world;
  const Outcome made = create(world, world.mara, "helper");
  const Json old_secret = made.body.at("credential").at("secret");
  const Outcome rotated = rotate(world, world.mara, made.body.at("id"));
  REQUIRE(rotated.status == 200);
  CHECK(rotated.body.at("agent_id") == made.body.at("id"));
  CHECK(rotated.body.at("secret") != old_secret);
  CHECK(scopes_of(world, old_secret).is_null());
  CHECK(scopes_of(world, rotated.body.at("secret")) == read_scopes);
}

TEST_CASE("agents: revoking an agent revokes all its keys for good", "[server-mock]") {
  ServiceWorld world;
  const Outcome made = create(world, world.mara, "helper");
  const Json secret = made.body.at("credential").at("secret");
  CHECK(update(world, world.mara, made.body.at("id"), {{"status", "paused"}}).body.at("status") == "paused");
  CHECK(scopes_of(world, secret) == read_scopes);
  update(world, world.mara, made.body.at("id"), {{"status", "revoked"}});
  CHECK(scopes_of(world, secret).is_null());
  CHECK(update(world, world.mara, made.body.at("id"), {{"status", "active"}}).body.at("status") == "active");
  CHECK(scopes_of(world, secret).is_null());
}

TEST_CASE("agents: new permissions change the scopes of existing keys", "[server-mock]") {
  ServiceWorld world;
  const Outcome made = create(world, world.mara, "helper", {{"permissions", {"read", "edit"}}});
  const Json secret = made.body.at("credential").at("secret");
  const Outcome changed = update(world, world.mara, made.body.at("id"), {{"permissions", {"comment"}}});
  CHECK(changed.body.at("permissions") == Json{"comment"});
  CHECK(scopes_of(world, secret) == Json{"comments:write"});
}

TEST_CASE("agents: a key of fewer scopes stays as narrow as it was made", "[server-mock]") {
  ServiceWorld world;
  const std::string id = create(world, world.mara, "helper", {{"permissions", {"read", "edit"}}}).body.at("id");
  const auto key = issue_key(*world.world,
                             {.owner_user_id = world.mara.owner_user_id,
                              .agent_id = id,
                              .workspace_id = world.mara.workspace_id,
                              .scopes = {"documents:write", "agent_events:write"}});
  REQUIRE(key);
  const auto after = [&](const Json& change) {
    REQUIRE(update(world, world.mara, id, change).status == 200);
    return scopes_of(world, key->secret);
  };
  CHECK(after({{"display_name", "Another"}}) == Json{"documents:write", "agent_events:write"});
  CHECK(after({{"permissions", {"read", "comment", "edit"}}}) == Json{"documents:write", "agent_events:write"});
  CHECK(after({{"permissions", {"read"}}}) == Json{"agent_events:write"});
  CHECK(after({{"permissions", {"read", "edit"}}}) == Json{"agent_events:write"});
}

}  // namespace ws::mock::test
