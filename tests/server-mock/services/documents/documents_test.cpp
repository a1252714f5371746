#include <catch2/catch.hpp>

#include "api-client/base/random.hpp"
#include "api-client/base/sha256.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "tests/server-mock/services/service_world.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

Outcome get_document(ServiceWorld& world, const Caller& caller, const Json& id) {
  return world.call("docs.get", caller, nullptr, {{"document_id", id}});
}

Outcome put(ServiceWorld& world, const Caller& caller, const Json& id, std::string_view text, int expected) {
  return world.call(
      "docs.update", caller, {{"content", text}, {"expected_content_revision", expected}}, {{"document_id", id}});
}

Outcome archive(ServiceWorld& world, const Caller& caller, const Json& id) {
  return world.call("docs.archive", caller, nullptr, {{"document_id", id}});
}

Json titles(ServiceWorld& world, const Caller& caller) {
  Json result = Json::array();
  const Outcome list = world.call("docs.list", caller, nullptr, {{"limit", 100}});
  for (const Json& item : list.body.at("data")) result.push_back(item.at("title"));
  return result;
}

}  // namespace

TEST_CASE("documents: one is written as its tree is, with and without its content", "[server-mock]") {
  constexpr std::uint64_t cases = 500;
  for (std::uint64_t i = 0; i < cases; ++i) {
    SeededRandom random(i);
    const auto text = [&] {
      std::string made;
      for (std::uint64_t left = random.below(40); left > 0; --left) made += static_cast<char>(random.below(128));
      return random.below(4) == 0 ? "" : made + (random.below(2) == 0 ? "ä\xF0\x9F\x8E\x89" : "");
    };
    const Document document = {.id = text(),
                               .node_id = text(),
                               .parent_node_id = text(),
                               .project_id = text(),
                               .workspace_id = text(),
                               .title = text(),
                               .archived = random.below(2) == 0,
                               .content_revision = static_cast<std::int64_t>(random.below(1000)),
                               .content_sha256 = text(),
                               .created_by_user_id = text(),
                               .created_by_agent_id = text(),
                               .created_by_name = text(),
                               .created_at = static_cast<std::int64_t>(random.below(std::uint64_t{1} << 41U)),
                               .updated_by = {.kind = text(), .id = text(), .name = text()},
                               .content = text()};
    const std::string written = to_text(Document(document)).text;
    Json tree = parse_bounded(written).value();
    CHECK(tree.dump() == written);
    CHECK(tree.at("content") == document.content);
    tree.erase("content");
    CHECK(tree == to_json(Document(document)));
  }
}

TEST_CASE("documents: created, read, updated", "[server-mock]") {
  ServiceWorld world;
  const Outcome made =
      world.create_document(world.mara, "Notes", "# Notes\n", {{"project_id", world.built_in.project_id}});
  CHECK(made.status == 201);
  CHECK_THAT(made.header("ETag"), Catch::Matchers::Matches("\"1-[0-9a-f]{16}\""));
  CHECK(made.body.at("content_sha256") == Sha256::of("# Notes\n").hex());
  CHECK(made.body.at("parent_node_id") == world.built_in.project_node_id);
  CHECK(get_document(world, world.tomas, made.body.at("id")).body == made.body);

  world.clock.time += std::chrono::seconds{5};
  const Outcome changed = put(world, world.tomas, made.body.at("id"), "two", 1);
  CHECK(changed.body.at("content_revision") == 2);
  CHECK(changed.body.at("content") == "two");
  CHECK(changed.body.at("updated_by").at("name") == "Tomás Okafor");
  CHECK(changed.body.at("updated_at") == "2026-11-20T10:00:05.000Z");
  CHECK(changed.body.at("created_by").at("name") == "Mara Lindqvist");
  CHECK_THAT(changed.header("ETag"), Catch::Matchers::Matches("\"2-[0-9a-f]{16}\""));
}

TEST_CASE("documents: of writers from one revision exactly one wins", "[server-mock]") {
  ServiceWorld world;
  const Json id = world.id_of_document("Knots");
  int winners = 0;
  for (int i = 0; i < 10; ++i) {
    const Outcome outcome = put(world, world.mara, id, "text " + std::to_string(i), 1);
    if (outcome.status == 200) {
      ++winners;
      continue;
    }
    CHECK(outcome.code == "revision_conflict");
    CHECK(outcome.body.at("current_content_revision") == 2);
    CHECK(outcome.body.at("current_content_sha256") == Sha256::of("text 0").hex());
    CHECK(outcome.body.at("expected_content_revision") == 1);
  }
  CHECK(winners == 1);
  REQUIRE(world.world->assumptions.set("revision_mismatch=412"));
  CHECK(put(world, world.mara, id, "x", 1).status == 412);
}

TEST_CASE("documents: an archived document is in no list and readable only by its editors", "[server-mock]") {
  ServiceWorld world;
  const Json id = world.id_of_document("Knots");
  const Caller viewer = world.add_person("vera", "viewer");
  CHECK(get_document(world, viewer, id).status == 200);
  const Outcome first = archive(world, world.mara, id);
  CHECK(first.status == 200);
  world.clock.time += std::chrono::hours{1};
  CHECK(archive(world, world.mara, id).body == first.body);
  const Json remaining = titles(world, world.mara);
  CHECK(std::find(remaining.begin(), remaining.end(), "Knots") == remaining.end());
  CHECK(get_document(world, world.tomas, id).body.at("status") == "archived");
  CHECK(get_document(world, viewer, id).status == 404);
  const Outcome late = put(world, world.mara, id, "x", 2);
  CHECK(late.status == 409);
  CHECK(late.code == "archived");
}

TEST_CASE("documents: lists are stable under inserts, a malformed cursor is 422", "[server-mock]") {
  ServiceWorld world;
  for (int i = 0; i < 30; ++i) world.create_document(world.mara, "n" + std::to_string(i), "");
  std::map<std::string, int> seen;
  Json cursor = nullptr;
  do {
    Json parameters = {{"limit", 7}};
    if (!cursor.is_null()) parameters["cursor"] = cursor;
    const Outcome page = world.call("docs.list", world.mara, nullptr, parameters);
    for (const Json& item : page.body.at("data")) {
      ++seen[item.at("id")];
      CHECK_FALSE(item.contains("content"));
    }
    world.create_document(world.mara, "while paging", "");
    cursor = page.body.at("next_cursor");
  } while (!cursor.is_null());
  CHECK(seen.size() == 39);  // nine that Mara sees of the built-in world, and thirty
  for (const auto& [id, times] : seen) CHECK(times == 1);
  CHECK(world.call("docs.list", world.mara, nullptr, {{"cursor", "abc"}}).status == 422);
}

TEST_CASE("documents: outside every Project a document is its creator's, the admins', and whom it is shared with",
          "[server-mock]") {
  ServiceWorld world;
  const Caller lena = world.add_person("lena", "editor");
  const Json id = world.create_document(lena, "Diary", "dear").body.at("id");
  CHECK(get_document(world, lena, id).status == 200);
  CHECK(get_document(world, world.mara, id).status == 200);
  CHECK(get_document(world, world.tomas, id).status == 404);
  CHECK(get_document(world, world.agent, id).status == 404);
  CHECK(titles(world, world.tomas).size() == 8);
  CHECK(put(world, world.tomas, id, "x", 1).status == 404);

  const auto share = [&](Json body) { return world.call("docs.share", lena, std::move(body), {{"document_id", id}}); };
  CHECK(share({{"email", "tomas@example.com"}, {"permission", "read"}}).status == 200);
  CHECK(get_document(world, world.tomas, id).status == 200);
  CHECK(titles(world, world.tomas).size() == 9);
  CHECK(put(world, world.tomas, id, "x", 1).code == "forbidden");
  const Outcome shares = share({{"agent_handle", "scout"}, {"permission", "edit"}});
  CHECK(shares.body.at("shares").size() == 2);
  CHECK(put(world, world.agent, id, "x", 1).status == 200);
  CHECK(share({{"email", "tomas@example.com"}, {"permission", "edit"}}).body.at("shares").size() == 2);
  CHECK(put(world, world.tomas, id, "y", 2).status == 200);
  CHECK(share({{"email", "nobody@example.com"}, {"permission", "read"}}).status == 404);
  CHECK(share({{"permission", "read"}}).status == 422);
}

TEST_CASE("documents: those of another Workspace are 404, a user key sees all of its owner's Workspaces",
          "[server-mock]") {
  ServiceWorld world;
  const Json garden = world.id_of_document("Garden notes");
  CHECK(get_document(world, world.tomas, garden).status == 404);
  Caller everywhere = world.tomas;
  everywhere.audience = Audience::user;
  CHECK(get_document(world, everywhere, garden).status == 200);
  CHECK(titles(world, everywhere).size() == 9);
  // Mara is a viewer there, and the document lies outside every Project.
  CHECK(get_document(world, world.mara, garden).status == 404);
}

TEST_CASE("documents: the role is the one in the object's Workspace", "[server-mock]") {
  ServiceWorld world;
  const Json garden = world.id_of_document("Garden notes");
  Caller owner = world.tomas;
  owner.audience = Audience::user;
  REQUIRE(
      world
          .call("docs.share", owner, {{"email", "mara@example.com"}, {"permission", "edit"}}, {{"document_id", garden}})
          .status == 200);
  CHECK(get_document(world, world.mara, garden).status == 200);
  const Outcome refused = put(world, world.mara, garden, "x", 1);
  CHECK(refused.code == "insufficient_role");
  CHECK(refused.body.at("required_role") == "editor");
}

TEST_CASE("documents: a parent must be a Project or a Page that is there", "[server-mock]") {
  ServiceWorld world;
  const Json knots = get_document(world, world.mara, world.id_of_document("Knots")).body;
  CHECK(world.create_document(world.mara, "x", "", {{"parent_node_id", knots.at("parent_node_id")}}).status == 201);
  CHECK(world.create_document(world.mara, "x", "", {{"parent_node_id", knots.at("node_id")}}).status == 422);
  CHECK(world.create_document(world.mara, "x", "", {{"parent_node_id", world.built_in.user_id}}).status == 404);
  CHECK(world.create_document(world.mara, "x", "", {{"project_id", world.built_in.user_id}}).status == 404);
}
