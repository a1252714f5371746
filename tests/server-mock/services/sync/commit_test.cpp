#include <catch2/catch.hpp>

#include "tests/server-mock/services/service_world.hpp"

using namespace std::literals;
using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

/// The kinds of the commit's conflicts, by path.
Json kinds(const Outcome& committed) {
  Json result = Json::object();
  for (const Json& conflict : committed.body.at("conflicts")) {
    result[conflict.at("path").get<std::string>()] = conflict.at("kind");
  }
  return result;
}

std::vector<std::string> page_titles(ServiceWorld& world) {
  auto rows = world.world->database.prepare("select title from nodes where kind = 'page' order by title");
  std::vector<std::string> titles;
  while (*rows->step()) titles.push_back(rows->string(0));
  return titles;
}

}  // namespace

TEST_CASE("commit: staged changes become visible with the commit and not before", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  const std::string plan = client.plan_id();
  const Outcome pushed = client.push(plan, Json::array({created("a.md", "# A\n"), created("sub/b.md", "b")}));
  CHECK(client.tree() == Json::object());
  CHECK(client.revision() == 0);

  const Outcome committed = client.commit(plan, Json::array({pushed.body.at("push_id")}));
  CHECK(committed.status == 200);
  CHECK(committed.body.at("status") == "committed");
  CHECK(committed.body.at("revision") == 2);
  CHECK(committed.body.at("applied").size() == 2);
  CHECK(client.tree() == Json{{"a.md", "# A\n"}, {"sub/b.md", "b"}});
  CHECK(client.at("sub/b.md").at("title") == "b");
}

TEST_CASE("commit: bytes come back exactly as they were, whatever they are", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  constexpr std::string_view text =
      "\xEF\xBB\xBF---\r\ntitle: x\r\n---\r\nNUL \0 inside, \xF0\x9F\x8C\x8A, no newline"sv;
  client.publish(Json::array({created("x.md", text), created("empty.md", "")}));
  CHECK(client.at("x.md").at("content") == text);
  CHECK(client.at("empty.md").at("content") == "");
}

TEST_CASE("commit: repeating it gives the first answer, also after the plan expired", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  const std::string plan = client.plan_id();
  const Outcome pushed = client.push(plan, Json::array({created("a.md", "one")}));
  const Json ids = Json::array({pushed.body.at("push_id")});
  const Outcome first = client.commit(plan, ids);
  client.publish(Json::array({updated(client.at("a.md"), "two")}));
  CHECK(client.commit(plan, ids).body == first.body);
  world.clock.time += std::chrono::hours{30};
  CHECK(client.commit(plan, ids).body == first.body);
  CHECK(client.tree() == Json{{"a.md", "two"}});
}

TEST_CASE("commit: what names no document, nor has the text of a new one, is a conflict", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("a.md", "one")}));
  const Json none = {{"document_id", nullptr}, {"content", nullptr}, {"expected_content_revision", 1}};
  Json gone = {{"path", "a.md"}, {"action", "push_delete"}, {"content_sha256", nullptr}};
  Json moved = {
      {"path", "b.md"}, {"action", "push_move"}, {"content_sha256", std::string(64, '0')}, {"previous_path", "a.md"}};
  gone.update(none);
  moved.update(none);
  const Outcome committed = client.publish(Json::array({gone, moved}));
  CHECK(committed.body.at("applied").empty());
  CHECK(kinds(committed) == Json{{"a.md", "delete_edit"}, {"b.md", "path"}});
  CHECK(client.tree() == Json{{"a.md", "one"}});
}

TEST_CASE("commit: an expired plan that was never committed is 409 plan_expired", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  const std::string plan = client.plan_id();
  const Outcome pushed = client.push(plan, Json::array({created("a.md", "one")}));
  world.clock.time += std::chrono::minutes{59};
  CHECK(client.push(plan, Json::array()).status == 200);
  world.clock.time += std::chrono::minutes{1};
  const Outcome late = client.commit(plan, Json::array({pushed.body.at("push_id")}));
  CHECK(late.status == 409);
  CHECK(late.code == "plan_expired");
  CHECK(client.push(plan, Json::array()).code == "plan_expired");
  CHECK(client.tree() == Json::object());
}

TEST_CASE("commit: of writers from the same revision exactly one wins, the others get conflicts", "[server-mock]") {
  ServiceWorld world;
  SyncClient first = SyncClient::with_new_source(world, world.mara);
  first.publish(Json::array({created("a.md", "base")}));
  const Json base = first.at("a.md");
  int winners = 0;
  for (int i = 0; i < 8; ++i) {
    SyncClient client(world, world.mara, first.source_id(), "client " + std::to_string(i));
    const Outcome committed = client.publish(Json::array({updated(base, "text of " + std::to_string(i))}));
    if (committed.body.at("conflicts").empty()) {
      ++winners;
    } else {
      CHECK(committed.body.at("status") == "partly_conflicted");
      CHECK(committed.body.at("applied").empty());
      CHECK(kinds(committed) == Json{{"a.md", "revision"}});
    }
  }
  CHECK(winners == 1);
  CHECK(first.tree() == Json{{"a.md", "text of 0"}});
  const Outcome source = world.call("sync.source_get", world.mara, nullptr, {{"source_id", first.source_id()}});
  CHECK(source.body.at("open_conflicts").size() == 7);
}

TEST_CASE("commit: one that conflicts does not stop the others", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("a.md", "a"), created("b.md", "b")}));
  const Json a = client.at("a.md");
  client.publish(Json::array({updated(a, "a2")}));
  const Outcome committed =
      client.publish(Json::array({updated(a, "mine"), updated(client.at("b.md"), "b2"), created("c.md", "c")}));
  CHECK(kinds(committed) == Json{{"a.md", "revision"}});
  CHECK(committed.body.at("applied").size() == 2);
  CHECK(client.tree() == Json{{"a.md", "a2"}, {"b.md", "b2"}, {"c.md", "c"}});
}

TEST_CASE("commit: swaps and chains of paths work", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("a.md", "A"), created("b.md", "B"), created("c.md", "C")}));
  const Json a = client.at("a.md");
  const Json b = client.at("b.md");
  const Json c = client.at("c.md");
  SECTION("swap") {
    CHECK(kinds(client.publish(Json::array({moved(a, "b.md"), moved(b, "a.md")}))) == Json::object());
    CHECK(client.tree() == Json{{"a.md", "B"}, {"b.md", "A"}, {"c.md", "C"}});
  }
  SECTION("chain into a deleted one's place") {
    CHECK(kinds(client.publish(Json::array({moved(a, "b.md"), moved(b, "c.md"), removed(c)}))) == Json::object());
    CHECK(client.tree() == Json{{"b.md", "A"}, {"c.md", "B"}});
  }
  SECTION("a new file where one was deleted, and where one moved away") {
    CHECK(kinds(client.publish(Json::array(
              {created("a.md", "A2"), removed(a), created("b.md", "B2"), moved(b, "d.md")}))) == Json::object());
    CHECK(client.tree() == Json{{"a.md", "A2"}, {"b.md", "B2"}, {"c.md", "C"}, {"d.md", "B"}});
  }
  SECTION("moved and edited in one") {
    Json both = updated(a, "A2");
    both["path"] = "x/y.md";
    both["previous_path"] = "a.md";
    client.publish(Json::array({both}));
    CHECK(client.tree() == Json{{"b.md", "B"}, {"c.md", "C"}, {"x/y.md", "A2"}});
  }
  SECTION("moved and edited as two items") {
    const Outcome committed = client.publish(Json::array({moved(a, "z.md"), updated(a, "A2")}));
    CHECK(committed.body.at("applied").size() == 2);
    CHECK(client.tree() == Json{{"b.md", "B"}, {"c.md", "C"}, {"z.md", "A2"}});
  }
  SECTION("only the case of a name") {
    client.publish(Json::array({moved(a, "A.md")}));
    CHECK(client.tree() == Json{{"A.md", "A"}, {"b.md", "B"}, {"c.md", "C"}});
  }
}

TEST_CASE("commit: an item that needs the path of a failed one is a conflict too", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("a.md", "A"), created("b.md", "B"), created("c.md", "C")}));
  const Json a = client.at("a.md");
  const Json b = client.at("b.md");
  const Json c = client.at("c.md");
  client.publish(Json::array({updated(c, "C2")}));
  const Outcome committed =
      client.publish(Json::array({moved(a, "b.md"), moved(b, "c.md"), moved(c, "d.md"), created("e.md", "E")}));
  CHECK(kinds(committed) == Json{{"b.md", "path"}, {"c.md", "path"}, {"d.md", "revision"}});
  CHECK(client.tree() == Json{{"a.md", "A"}, {"b.md", "B"}, {"c.md", "C2"}, {"e.md", "E"}});
}

TEST_CASE("commit: both created is a conflict by hash without base, equal bytes are adopted", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("a.md", "one"), created("same.md", "same")}));
  const Outcome committed = client.publish(Json::array({created("A.md", "two"), created("same.md", "same")}));
  CHECK(kinds(committed) == Json{{"A.md", "hash"}});
  CHECK(committed.body.at("applied")[0].at("document_id") == client.at("same.md").at("document_id"));
  const Json conflict = client.conflict(committed.body.at("conflicts")[0].at("id")).body;
  CHECK(conflict.at("base").is_null());
  CHECK(conflict.at("local").at("content") == "two");
  CHECK(conflict.at("remote").at("content") == "one");
  CHECK(conflict.at("remote").at("document_id") == client.at("a.md").at("document_id"));
}

TEST_CASE("commit: delete against edit, edit against delete, rename against rename", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("a.md", "a"), created("b.md", "b"), created("c.md", "c"), created("d.md", "d")}));
  const Json a = client.at("a.md");
  const Json b = client.at("b.md");
  const Json c = client.at("c.md");
  const Json d = client.at("d.md");
  client.publish(Json::array({updated(a, "a2"), removed(b), moved(c, "there.md"), moved(d, "d2.md")}));
  const Outcome committed =
      client.publish(Json::array({removed(a), updated(b, "b2"), moved(c, "here.md"), removed(d)}));
  CHECK(kinds(committed) ==
        Json{{"a.md", "delete_edit"}, {"b.md", "edit_delete"}, {"here.md", "path"}, {"d.md", "delete_edit"}});
  CHECK(client.tree() == Json{{"a.md", "a2"}, {"d2.md", "d"}, {"there.md", "c"}});
}

TEST_CASE("commit: edited here and moved there, both are applied", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("a.md", "a")}));
  const Json a = client.at("a.md");
  client.publish(Json::array({moved(a, "sub/b.md")}));
  CHECK(kinds(client.publish(Json::array({updated(a, "a2")}))) == Json::object());
  CHECK(client.tree() == Json{{"sub/b.md", "a2"}});
}

TEST_CASE("commit: identical changes never conflict", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("a.md", "a"), created("b.md", "b"), created("c.md", "c")}));
  const Json items =
      Json::array({updated(client.at("a.md"), "a2"), moved(client.at("b.md"), "b2.md"), removed(client.at("c.md"))});
  client.publish(items);
  const std::int64_t revision = client.revision();
  const Outcome again = client.publish(items);
  CHECK(kinds(again) == Json::object());
  CHECK(again.body.at("applied").size() == 3);
  CHECK(client.revision() == revision);
}

TEST_CASE("commit: a new file may not have the path of a folder, but may lie in a folder named like a file",
          "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("x.md/inside.md", "1"), created("y.md", "2")}));
  const Outcome committed = client.publish(Json::array({created("x.md", "3"), created("y.md/below.md", "4")}));
  CHECK(kinds(committed) == Json{{"x.md", "path"}});
  CHECK(client.tree() == Json{{"x.md/inside.md", "1"}, {"y.md", "2"}, {"y.md/below.md", "4"}});
  SECTION("in one commit it may not") {
    CHECK(kinds(client.publish(Json::array({created("z.md", "5"), created("z.md/below.md", "6")}))).size() == 1);
  }
  SECTION("unless the file goes in the same commit") {
    CHECK(kinds(client.publish(Json::array({removed(client.at("y.md")), created("y.md/more.md", "7")}))) ==
          Json::object());
    CHECK(client.tree() == Json{{"x.md/inside.md", "1"}, {"y.md/below.md", "4"}, {"y.md/more.md", "7"}});
  }
}

TEST_CASE("commit: renamed on both sides is a conflict about the path", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  client.publish(Json::array({created("p.md", "1")}));
  const Json before = client.at("p.md");
  client.publish(Json::array({moved(before, "theirs.md")}));
  CHECK(kinds(client.publish(Json::array({moved(before, "mine.md")}))) == Json{{"mine.md", "path"}});
  CHECK(client.tree() == Json{{"theirs.md", "1"}});
}

TEST_CASE("commit: branch Pages are created, and removed when they become empty", "[server-mock]") {
  ServiceWorld world;
  const std::vector<std::string> before = page_titles(world);
  SyncClient client = SyncClient::with_new_source(world, world.mara, {{"project_id", world.built_in.project_id}});
  client.publish(Json::array({created("deep/er/a.md", "a"), created("deep/b.md", "b")}));
  CHECK(page_titles(world).size() == before.size() + 2);
  client.publish(Json::array({moved(client.at("deep/er/a.md"), "a.md")}));
  CHECK(page_titles(world).size() == before.size() + 1);
  client.publish(Json::array({removed(client.at("deep/b.md"))}));
  CHECK(page_titles(world) == before);
}

TEST_CASE("commit: a page that exists is used for the folder of its name", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara, {{"project_id", world.built_in.project_id}});
  const auto before = page_titles(world);
  client.publish(Json::array({created("guides/New.md", "n")}));
  CHECK(page_titles(world) == before);
  const Outcome document =
      world.call("docs.get", world.mara, nullptr, {{"document_id", world.id_of_document("Knots")}});
  const Outcome made = world.call("docs.get", world.mara, nullptr, {{"document_id", world.id_of_document("New")}});
  CHECK(made.body.at("parent_node_id") == document.body.at("parent_node_id"));
}

TEST_CASE("commit: with sync_conflict_status=409 the body is the same, and applied changes stay", "[server-mock]") {
  ServiceWorld world;
  REQUIRE(world.world->assumptions.set("sync_conflict_status=409"));
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  CHECK(client.publish(Json::array({created("a.md", "a")})).status == 200);
  const Outcome committed = client.publish(Json::array({created("a.md", "x"), created("b.md", "b")}));
  CHECK(committed.status == 409);
  CHECK(committed.body.at("code") == "sync_conflict");
  CHECK(committed.body.at("status") == "partly_conflicted");
  CHECK(committed.header("X-Mock-Assumed") == "sync_conflict_status=409");
  CHECK(client.tree() == Json{{"a.md", "a"}, {"b.md", "b"}});
}

TEST_CASE("commit: pushes and plans of others are 404", "[server-mock]") {
  ServiceWorld world;
  SyncClient mine = SyncClient::with_new_source(world, world.mara, {{"project_id", world.built_in.project_id}});
  SyncClient theirs(world, world.tomas, mine.source_id(), "desk");
  const std::string plan = mine.plan_id();
  const Outcome pushed = mine.push(plan, Json::array({created("a.md", "a")}));
  CHECK(theirs.commit(plan, Json::array({pushed.body.at("push_id")})).status == 404);
  CHECK(mine.commit(mine.plan_id(), Json::array({pushed.body.at("push_id")})).status == 404);
  CHECK(mine.commit(plan, Json::array({pushed.body.at("push_id")})).status == 200);
}

TEST_CASE("commit: two thousand documents in one", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  const std::string plan = client.plan_id();
  Json ids = Json::array();
  for (int part = 0; part < 4; ++part) {
    Json items = Json::array();
    for (int i = 0; i < 500; ++i) {
      items.push_back(created("folder " + std::to_string(part) + "/note " + std::to_string(i) + ".md",
                              "# " + std::to_string(i) + "\n" + std::string(4000, 'x')));
    }
    ids.push_back(client.push(plan, std::move(items)).body.at("push_id"));
  }
  const Outcome committed = client.commit(plan, ids);
  CHECK(committed.body.at("applied").size() == 2000);
  CHECK(committed.body.at("revision") == 2000);
}
