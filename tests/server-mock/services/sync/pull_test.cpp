#include <catch2/catch.hpp>

#include "tests/server-mock/services/service_world.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

Outcome pull(SyncClient& client, Json parameters) {
  parameters["source_id"] = client.source_id();
  return client.world().call("sync.pull", client.world().mara, nullptr, std::move(parameters));
}

SyncClient filled(ServiceWorld& world, int count, std::size_t bytes = 10) {
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  Json items = Json::array();
  for (int i = 0; i < count; ++i) items.push_back(created(std::to_string(i) + ".md", std::string(bytes, 'x')));
  client.publish(std::move(items));
  return client;
}

}  // namespace

TEST_CASE("pull: pages hold every document once, also while others write", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = filled(world, 25);
  std::map<std::string, int> seen;
  Json cursor = nullptr;
  do {
    Json parameters = {{"limit", 10}};
    if (!cursor.is_null()) parameters["cursor"] = cursor;
    const Outcome page = pull(client, parameters);
    REQUIRE(page.status == 200);
    CHECK(page.body.at("data").size() <= 10);
    for (const Json& item : page.body.at("data")) ++seen[item.at("document_id")];
    if (cursor.is_null()) client.publish(Json::array({created("late.md", "late"), removed(client.at("24.md"))}));
    cursor = page.body.at("next_cursor");
  } while (!cursor.is_null());
  CHECK(seen.size() == 26);
  for (const auto& [id, times] : seen) CHECK(times == 1);
}

TEST_CASE("pull: only what changed since, and without content where that is asked", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = filled(world, 3);
  CHECK(client.pull(3) == Json::array());
  client.publish(Json::array({updated(client.at("1.md"), "new")}));
  const Outcome since = pull(client, {{"since_revision", 3}, {"include_content", false}});
  CHECK(since.body.at("since_revision") == 3);
  CHECK(since.body.at("revision") == 4);
  REQUIRE(since.body.at("data").size() == 1);
  CHECK(since.body.at("data")[0].at("content").is_null());
  CHECK(since.body.at("data")[0].at("size_bytes") == 3);
}

TEST_CASE("pull: a page ends at 8 MiB of content", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = filled(world, 7, 1'000'000);
  client.publish(
      Json::array({created("a.md", std::string(1'000'000, 'a')), created("b.md", std::string(1'000'000, 'b'))}));
  const Outcome page = pull(client, Json::object());
  CHECK(page.body.at("data").size() == 8);
  REQUIRE(page.body.at("next_cursor").is_string());
  CHECK(pull(client, {{"cursor", page.body.at("next_cursor")}}).body.at("data").size() == 1);
  CHECK(pull(client, {{"include_content", false}}).body.at("data").size() == 9);
}

TEST_CASE("pull: a malformed cursor, or one of another list, is 422", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = filled(world, 5);
  const Json cursor = pull(client, {{"limit", 2}}).body.at("next_cursor");
  CHECK(pull(client, {{"cursor", cursor}}).status == 200);
  CHECK(pull(client, {{"cursor", cursor}, {"since_revision", 1}}).status == 422);
  CHECK(pull(client, {{"cursor", "c1_2_000000000000"}}).status == 422);
  CHECK(pull(client, {{"cursor", "nonsense"}}).status == 422);
  CHECK(pull(client, {{"cursor", ""}}).status == 422);
}

TEST_CASE("pull: with pull_filter ignored everything comes, without cursor", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = filled(world, 5);
  client.publish(Json::array({removed(client.at("0.md"))}));
  REQUIRE(world.world->assumptions.set("pull_filter=ignored"));
  const Outcome all = pull(client, {{"since_revision", 5}, {"limit", 1}, {"cursor", "x"}});
  CHECK(all.body.at("data").size() == 5);
  CHECK(all.body.at("next_cursor").is_null());
  CHECK(all.header("X-Mock-Assumed") == "pull_filter=ignored");
}

TEST_CASE("pull: a document that left the source is shown as it left, whatever its owner does to it", "[server-mock]") {
  ServiceWorld world;
  SyncClient ours = SyncClient::with_new_source(world, world.mara, {{"project_id", world.built_in.project_id}});
  const Json draft = {{"project_id", world.built_in.project_id}};
  const Json made = world.create_document(world.mara, "Leaver", "public", draft).body;
  SyncClient theirs(world, world.tomas, ours.source_id(), "theirs");
  const std::int64_t before = ours.revision();
  const Json node = {{"node_id", made.at("node_id")}};
  REQUIRE(world.call("nodes.move", world.mara, {{"parent_node_id", nullptr}}, node).status == 200);
  const Json then = ours.pull(before);
  const Json secret = {{"title", "SECRET"}, {"content", "very secret"}, {"expected_content_revision", 1}};
  const Json document = {{"document_id", made.at("id")}};
  REQUIRE(world.call("docs.update", world.mara, secret, document).status == 200);
  REQUIRE(world.call("docs.get", world.tomas, nullptr, document).status == 404);

  REQUIRE(theirs.pull(before) == then);
  CHECK(then[0].at("deleted") == true);
  CHECK(then[0].at("title") == "Leaver");
  CHECK(then[0].at("content_revision") == 1);
  const Json action = theirs.plan(Json::array(), before).body.at("actions")[0];
  CHECK(action.at("action") == "pull_delete");
  CHECK(action.at("content_sha256") == made.at("content_sha256"));
  // Nor is a later revision the base of anything.
  Json item = updated(then[0], "mine");
  item["expected_content_revision"] = 2;
  const Outcome conflict = theirs.conflict(theirs.publish(Json::array({item})).body.at("conflicts")[0].at("id"));
  CHECK(conflict.body.at("kind") == "edit_delete");
  CHECK(conflict.body.at("base").is_null());
  CHECK(conflict.body.at("remote").at("content_sha256") == made.at("content_sha256"));
  // Back in the source it is what it is.
  REQUIRE(world.call("nodes.move", world.mara, {{"parent_node_id", world.built_in.project_node_id}}, node).status ==
          200);
  CHECK(theirs.at("SECRET.md").at("content_revision") == 2);
}
