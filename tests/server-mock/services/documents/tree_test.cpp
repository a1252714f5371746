#include <set>

#include <catch2/catch.hpp>

#include "tests/server-mock/services/service_world.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

struct Family {
  ServiceWorld world = ServiceWorld();
  std::string outer = {};  ///< Page in the Project
  std::string inner = {};  ///< Page in `outer`

  Family() {
    SyncClient client = SyncClient::with_new_source(world, world.mara, {{"project_id", world.built_in.project_id}});
    client.publish(Json::array({created("outer/inner/x.md", "x")}));
    outer = node("outer");
    inner = node("inner");
  }

  std::string node(std::string_view title) {
    auto row = world.world->database.prepare("select id from nodes where title = ?");
    row->bind(1, title);
    REQUIRE(*row->step());
    return row->string(0);
  }

  Outcome move(const std::string& id, const Json& parent, const Json& before = nullptr) {
    Json body = {{"parent_node_id", parent}};
    if (!before.is_null()) body["before_node_id"] = before;
    return world.call("nodes.move", world.mara, body, {{"node_id", id}});
  }

  Json children(const std::string& parent) {
    auto rows = world.world->database.prepare("select title from nodes where parent_id = ? order by position");
    rows->bind(1, parent);
    Json titles = Json::array();
    while (*rows->step()) titles.push_back(rows->text(0));
    return titles;
  }
};

}  // namespace

TEST_CASE("nodes: one cannot move below itself", "[server-mock]") {
  Family family;
  CHECK(family.move(family.outer, family.inner).code == "node_cycle");
  CHECK(family.move(family.outer, family.outer).code == "node_cycle");
  CHECK(family.move(family.inner, family.world.built_in.project_node_id).status == 200);
  CHECK(family.move(family.outer, family.inner).status == 200);
}

TEST_CASE("nodes: a Project stays at the Workspace root", "[server-mock]") {
  Family family;
  CHECK(family.move(family.world.built_in.project_node_id, family.outer).code == "project_at_root");
  const Outcome stays = family.move(family.world.built_in.project_node_id, nullptr);
  CHECK(stays.status == 200);
  CHECK(stays.body.at("kind") == "project");
}

TEST_CASE("nodes: before_node_id gives the order among the children", "[server-mock]") {
  Family family;
  const std::string root = family.world.built_in.project_node_id;
  CHECK(family.children(root) == Json{"Start here", "guides", "people", "logbook", "outer"});
  CHECK(family.move(family.outer, root, family.node("guides")).status == 200);
  CHECK(family.children(root) == Json{"Start here", "outer", "guides", "people", "logbook"});
  CHECK(family.move(family.node("Start here"), root).status == 200);
  CHECK(family.children(root) == Json{"outer", "guides", "people", "logbook", "Start here"});
  CHECK(family.move(family.outer, root, family.node("Knots")).status == 422);
}

TEST_CASE("nodes: nothing moves below a document, nor to another Workspace", "[server-mock]") {
  Family family;
  CHECK(family.move(family.outer, family.node("Knots")).status == 422);
  CHECK(family.move(family.outer, family.node("Garden notes")).status == 404);
  CHECK(family.move(family.world.built_in.user_id, nullptr).status == 404);
}

TEST_CASE("nodes: a document that leaves a Project is private, one that enters belongs to the Workspace",
          "[server-mock]") {
  Family family;
  const Json id = family.world.id_of_document("Knots");
  const auto read = [&] { return family.world.call("docs.get", family.world.tomas, nullptr, {{"document_id", id}}); };
  CHECK(family.move(family.node("guides"), nullptr).status == 200);
  CHECK(read().status == 404);
  CHECK(family.move(family.node("guides"), family.outer).status == 200);
  CHECK(read().status == 200);
  CHECK(read().body.at("project_id") == family.world.built_in.project_id);
}

TEST_CASE("workspaces: a user key lists all of its owner's, a workspace key one, who makes one owns it",
          "[server-mock]") {
  ServiceWorld world;
  CHECK(world.call("workspaces.list", world.mara).body.at("data").size() == 2);
  CHECK(world.call("workspaces.list", world.tomas).body.at("data").size() == 1);
  const Outcome made = world.call("workspaces.create", world.mara, {{"name", "Third"}});
  CHECK(made.body.at("role") == "owner");
  CHECK(world.call("workspaces.list", world.mara).body.at("data").size() == 3);
}

TEST_CASE("workspaces: a key of one Workspace cannot make another, which it could not see", "[server-mock]") {
  ServiceWorld world;
  const auto names = [&] {
    std::set<std::string> found;
    const Outcome listed = world.call("workspaces.list", world.tomas);
    for (const Json& one : listed.body.at("data")) found.insert(one.at("name"));
    return found;
  };
  const Outcome refused = world.call("workspaces.create", world.tomas, {{"name", "Mine"}});
  CHECK(refused.status == 403);
  CHECK(refused.code == "forbidden");
  REQUIRE(world.world->assumptions.set("workspace_create", "visible"));
  CHECK(world.call("workspaces.create", world.tomas, {{"name", "Mine"}}).status == 201);
  CHECK(names().contains("Mine"));
}

TEST_CASE("projects: in one's own Workspace, or in one where one is an editor", "[server-mock]") {
  ServiceWorld world;
  const Outcome made = world.call("projects.create", world.mara, {{"title", "P"}});
  CHECK(made.body.at("workspace_id") == world.built_in.workspace_id);
  CHECK(world.create_document(world.tomas, "d", "", {{"project_id", made.body.at("id")}}).status == 201);
  const Json elsewhere = {{"title", "P"}, {"workspace_id", world.built_in.other_workspace_id}};
  CHECK(world.call("projects.create", world.mara, elsewhere).code == "insufficient_role");
  CHECK(world.call("projects.create", world.tomas, elsewhere).status == 404);
}
