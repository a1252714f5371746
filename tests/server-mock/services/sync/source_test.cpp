#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "tests/server-mock/services/service_world.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

TEST_CASE("source: a Project's documents become part of it and get paths", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara, {{"project_id", world.built_in.project_id}});
  std::vector<std::string> paths;
  const Json tree = client.tree();
  for (const auto& [path, text] : tree.items()) paths.push_back(path);
  CHECK(paths == std::vector<std::string>{"Start here.md",
                                          "guides/Crossing plan.md",
                                          "guides/Knots.md",
                                          "guides/Tides and currents.md",
                                          "logbook/2026-11-02.md",
                                          "logbook/2026-11-09.md",
                                          "people/Crew list.md",
                                          "people/Réunion du lundi.md"});
  CHECK(client.revision() == 8);
}

TEST_CASE("source: its root is a Project, a node, or a new empty Page, never two", "[server-mock]") {
  ServiceWorld world;
  const Json node = world.call("docs.get", world.mara, nullptr, {{"document_id", world.id_of_document("Knots")}})
                        .body.at("parent_node_id");
  SyncClient page = SyncClient::with_new_source(world, world.mara, {{"root_node_id", node}});
  CHECK(page.tree().size() == 3);
  const Json both = {{"name", "n"}, {"root_node_id", node}, {"project_id", world.built_in.project_id}};
  CHECK(world.call("sync.source_create", world.mara, both).status == 422);
  const Json unknown = {{"name", "n"}, {"project_id", world.built_in.user_id}};
  CHECK(world.call("sync.source_create", world.mara, unknown).status == 404);
  const Outcome fresh = world.call("sync.source_create", world.mara, {{"name", "n"}});
  CHECK(fresh.body.at("revision") == 0);
  CHECK(fresh.body.at("document_count") == 0);
  CHECK(fresh.body.at("project_id").is_null());
  CHECK(fresh.body.at("last_committed_at").is_null());
}

TEST_CASE("source: the naming rule makes good paths of any title", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  const Json root =
      world.call("sync.source_get", world.mara, nullptr, {{"source_id", client.source_id()}}).body.at("root_node_id");
  for (const char* title : {"a/b\tc", "Same", "same", "..", ".git", "cafe\xCC\x81", "x\\y"}) {
    REQUIRE(world.create_document(world.mara, title, title, {{"parent_node_id", root}}).status == 201);
  }
  std::string wide;
  for (int i = 0; i < 150; ++i) wide += "\xE6\xB0\xB4";
  REQUIRE(world.create_document(world.mara, wide, "wide", {{"parent_node_id", root}}).status == 201);
  std::vector<std::string> paths;
  for (const Json& item : client.pull()) paths.push_back(item.at("path"));
  CHECK(paths == std::vector<std::string>{"a-b-c.md",
                                          "Same.md",
                                          "same (2).md",
                                          "-...md",
                                          "-.git.md",
                                          "caf\xC3\xA9.md",
                                          "x-y.md",
                                          wide.substr(0, 198) + ".md"});
}

TEST_CASE("source: edits, archives and moves by other operations raise its revision and are pulled", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara, {{"project_id", world.built_in.project_id}});
  const Json knots = client.at("guides/Knots.md");
  const std::int64_t before = client.revision();
  const auto changed = [&] { return client.pull(before); };

  SECTION("PUT of text") {
    world.call("docs.update",
               world.tomas,
               {{"content", "new"}, {"expected_content_revision", 1}},
               {{"document_id", knots.at("document_id")}});
    REQUIRE(changed().size() == 1);
    CHECK(changed()[0].at("content") == "new");
    CHECK(changed()[0].at("content_revision") == 2);
    CHECK(changed()[0].at("updated_by").at("name") == "Tomás Okafor");
  }
  SECTION("PUT of the title alters neither path nor bytes, but raises the revision") {
    world.call("docs.update",
               world.mara,
               {{"title", "Five knots"}, {"expected_content_revision", 1}},
               {{"document_id", knots.at("document_id")}});
    REQUIRE(changed().size() == 1);
    CHECK(changed()[0].at("path") == "guides/Knots.md");
    CHECK(changed()[0].at("title") == "Five knots");
    CHECK(changed()[0].at("content") == knots.at("content"));
  }
  SECTION("archive") {
    world.call("docs.archive", world.mara, nullptr, {{"document_id", knots.at("document_id")}});
    REQUIRE(changed().size() == 1);
    CHECK(changed()[0].at("deleted") == true);
    CHECK(changed()[0].at("content").is_null());
    CHECK(changed()[0].at("path") == "guides/Knots.md");
  }
  SECTION("a document moved within changes its folder") {
    world.call("nodes.move",
               world.mara,
               {{"parent_node_id", world.built_in.project_node_id}},
               {{"node_id", knots.at("node_id")}});
    REQUIRE(changed().size() == 1);
    CHECK(changed()[0].at("path") == "Knots.md");
    CHECK(changed()[0].at("content_revision") == 1);
  }
  SECTION("moved into a Page that has the name of a document it lies in a folder of that name") {
    client.publish(Json::array({created("y.md", "1")}));
    client.publish(Json::array({created("y.md/below.md", "2")}));
    const Json below =
        world.call("docs.get", world.mara, nullptr, {{"document_id", client.at("y.md/below.md").at("document_id")}})
            .body;
    world.call(
        "nodes.move", world.mara, {{"parent_node_id", below.at("parent_node_id")}}, {{"node_id", knots.at("node_id")}});
    CHECK(client.tree().contains("y.md/Knots.md"));
    CHECK(client.tree().contains("y.md"));
  }
  SECTION("moved out of the source it is deleted there, moved in it comes") {
    SyncClient other = SyncClient::with_new_source(world, world.mara);
    const Json root =
        world.call("sync.source_get", world.mara, nullptr, {{"source_id", other.source_id()}}).body.at("root_node_id");
    world.call("nodes.move", world.mara, {{"parent_node_id", root}}, {{"node_id", knots.at("node_id")}});
    REQUIRE(changed().size() == 1);
    CHECK(changed()[0].at("deleted") == true);
    CHECK(other.tree().contains("Knots.md"));
    world.call("nodes.move",
               world.mara,
               {{"parent_node_id", world.built_in.project_node_id}},
               {{"node_id", knots.at("node_id")}});
    CHECK(client.tree().contains("Knots.md"));
    CHECK(other.tree() == Json::object());
  }
  SECTION("a Page moved takes its documents along") {
    const Json page = world.call("docs.get", world.mara, nullptr, {{"document_id", knots.at("document_id")}})
                          .body.at("parent_node_id");
    const Json crew = world.call("docs.get", world.mara, nullptr, {{"document_id", world.id_of_document("Crew list")}})
                          .body.at("parent_node_id");
    CHECK(world.call("nodes.move", world.mara, {{"parent_node_id", crew}}, {{"node_id", page}}).status == 200);
    CHECK(changed().size() == 3);
    CHECK(client.tree().contains("people/guides/Knots.md"));
    CHECK(client.revision() == before + 3);
  }
}

TEST_CASE("source: two sources of one tree each see the other's commits", "[server-mock]") {
  ServiceWorld world;
  SyncClient one = SyncClient::with_new_source(world, world.mara, {{"project_id", world.built_in.project_id}});
  SyncClient two = SyncClient::with_new_source(world, world.mara, {{"project_id", world.built_in.project_id}});
  one.publish(Json::array({created("guides/new.md", "n"), moved(one.at("Start here.md"), "guides/begin.md")}));
  CHECK(two.tree().contains("guides/new.md"));
  CHECK(two.tree().contains("guides/Start here.md"));
}

TEST_CASE("source: outside every Project it is visible to its creator and admins", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.tomas);
  const auto get = [&](const Caller& caller) {
    return world.call("sync.source_get", caller, nullptr, {{"source_id", client.source_id()}}).status;
  };
  CHECK(get(world.tomas) == 200);
  CHECK(get(world.mara) == 200);
  CHECK(get(world.add_person("lena", "editor")) == 404);
  CHECK(get(world.add_person("ana", "admin")) == 200);
  CHECK(get(world.agent) == 404);
}

TEST_CASE("source: documents of one title are numbered in the order of their ids, however many", "[server-mock]") {
  ServiceWorld world;
  const Json project = world.call("projects.create", world.mara, {{"title", "Twins"}}).body;
  constexpr int count = 70;
  for (int i = 1; i <= count; ++i) {
    const Json place = {{"project_id", project.at("id")}};
    REQUIRE(world.create_document(world.mara, i % 2 == 0 ? "Twin" : "TWIN", std::to_string(i), place).status == 201);
  }
  SyncClient client = SyncClient::with_new_source(world, world.mara, {{"project_id", project.at("id")}});
  std::set<int> numbers;
  std::map<std::string, std::string> by_id;
  for (const Json& item : client.pull()) {
    const std::string path = item.at("path");
    const std::size_t open = path.find('(');
    numbers.insert(open == std::string::npos ? 1 : std::stoi(path.substr(open + 1)));
    by_id[item.at("document_id")] = path;
  }
  CHECK(numbers.size() == count);
  CHECK(*numbers.rbegin() == count);
  CHECK(by_id.begin()->second.find('(') == std::string::npos);
  CHECK(by_id.rbegin()->second.find("(70)") != std::string::npos);
}

TEST_CASE("source: a document that its maker may not see is neither counted nor named, and keeps its path",
          "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.tomas);
  const auto source = [&] {
    return world.call("sync.source_get", world.tomas, nullptr, {{"source_id", client.source_id()}}).body;
  };
  // An admin's own document under the maker's private Page.
  const Json parent = {{"parent_node_id", source().at("root_node_id")}};
  const Json hidden = world.create_document(world.mara, "Hidden", "hidden text", parent).body;
  REQUIRE(world.call("docs.get", world.tomas, nullptr, {{"document_id", hidden.at("id")}}).status == 404);
  CHECK(source().at("document_count") == 0);
  for (const char* const text : {"hidden text", "mine"}) {
    CAPTURE(text);
    const Json item = created("Hidden.md", text);
    const Json entry = {{"path", "Hidden.md"}, {"content_sha256", item.at("content_sha256")}};
    const Json action = client.plan(Json::array({entry})).body.at("actions")[0];
    CHECK(action.at("action") == "conflict");
    CHECK(action.at("document_id").is_null());
    CHECK(action.at("content_sha256") == item.at("content_sha256"));
    const Json done = client.publish(Json::array({item})).body;
    CHECK(done.at("applied") == Json::array());
    CHECK(source().at("open_conflicts") == done.at("conflicts"));
    const Outcome conflict = client.conflict(done.at("conflicts")[0].at("id"));
    CHECK(conflict.status == 200);
    CHECK(conflict.body.at("kind") == "path");
    CHECK(conflict.body.at("remote").at("document_id").is_null());
  }
}
