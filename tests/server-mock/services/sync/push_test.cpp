#include <catch2/catch.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/services/sync_sources/paths.hpp"
#include "tests/server-mock/services/service_world.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

Json codes(const Outcome& pushed) {
  Json result = Json::array();
  for (const Json& item : pushed.body.at("rejected")) result.push_back(item.at("code"));
  return result;
}

}  // namespace

TEST_CASE("push: refuses names with invisible format characters, and takes joiners between letters", "[server-mock]") {
  for (const char* name : {"a\u00ADb.md", "\u0600.md", "a\u06DD.md", "a\u070F.md", "x/a\U0001D173.md", "a\u200Bb.md"}) {
    CAPTURE(name);
    CHECK(path_problem(name) == "it holds an invisible control");
  }
  CHECK_FALSE(path_problem("\u0645\u06CC\u200C\u062E.md"));
}

TEST_CASE("push: refuses by hash, path and size, item by item", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  Json lying = created("a.md", "a");
  lying["content"] = "b";
  Json empty = created("b.md", "b");
  empty["content"] = nullptr;
  const std::string plan = client.plan_id();
  const Outcome pushed = client.push(plan,
                                     Json::array({lying,
                                                  empty,
                                                  created("../c.md", "c"),
                                                  created("big.md", std::string((1U << 20U) + 1, 'x')),
                                                  created("good.md", "g"),
                                                  created("GOOD.md", "twin")}));
  CHECK(codes(pushed) == Json{"hash_mismatch", "hash_mismatch", "invalid_path", "too_large", "invalid_path"});
  CHECK(pushed.body.at("accepted") == Json::array({{{"path", "good.md"}, {"content_sha256", Sha256::of("g").hex()}}}));
  client.commit(plan, Json::array({pushed.body.at("push_id")}));
  CHECK(client.tree() == Json{{"good.md", "g"}});
}

TEST_CASE("push: repeating it changes nothing, and refused items can be sent again", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  const std::string plan = client.plan_id();
  Json lying = created("a.md", "right");
  lying["content"] = "wrong";
  const Outcome refused = client.push(plan, Json::array({lying}));
  const Json items = Json::array({created("a.md", "right")});
  const Outcome pushed = client.push(plan, items);
  CHECK(pushed.body.at("push_id") != refused.body.at("push_id"));
  CHECK(client.push(plan, items).body == pushed.body);
  client.commit(plan, Json::array({pushed.body.at("push_id")}));
  CHECK(client.tree() == Json{{"a.md", "right"}});
}

TEST_CASE("push: more than 8 MiB of content in one is 413", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  Json items = Json::array();
  for (int i = 0; i < 9; ++i) items.push_back(created(std::to_string(i) + ".md", std::string(1'000'000, 'x')));
  CHECK(client.push(client.plan_id(), items).status == 413);
}

TEST_CASE("push: a document that is not the caller's in this source is forbidden", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.tomas);
  Json foreign = created("a.md", "a");
  foreign["action"] = "push_update";
  foreign["document_id"] = world.id_of_document("Garden notes");
  foreign["expected_content_revision"] = 1;
  CHECK(codes(client.push(client.plan_id(), Json::array({foreign}))) == Json{"forbidden"});
}

TEST_CASE("paths: dangerous names are refused, unportable ones are ordinary", "[server-mock]") {
  const std::string long_segment(256, 'a');
  const std::string deep = [] {
    std::string path;
    for (int i = 0; i < 200; ++i) path += "a/";
    return path + "a";
  }();
  const std::string bad = GENERATE_COPY(values<std::string>({"",
                                                             "/a.md",
                                                             "a//b.md",
                                                             "a/",
                                                             "./a.md",
                                                             "a/../b.md",
                                                             "C:/a.md",
                                                             "a\\b.md",
                                                             "a\nb.md",
                                                             "a\x7F.md",
                                                             "a\xC2\x85.md",
                                                             "a\xE2\x80\xAE.md",
                                                             "a\xE2\x80\x8B.md",
                                                             "\u200C.md",
                                                             "a/\u200Db.md",
                                                             "a.md\u200D",
                                                             "a\u200C\u200Cb.md",
                                                             ".w\u200Ds/x.md",
                                                             "\xEF\xBB\xBF"
                                                             "a.md",
                                                             "a\xFF.md",
                                                             "a\xED\xA0\x80.md",
                                                             ".ws/x.md",
                                                             "a/.GIT/config",
                                                             ".git. ",
                                                             ".git::$INDEX_ALLOCATION/x",
                                                             "git~1/x",
                                                             ".g\xC2\xAD"
                                                             "it/x",
                                                             ".wsignore",
                                                             ".gitmodules",
                                                             "\xEF\xBC\x8Ews.yaml",
                                                             long_segment,
                                                             deep}));
  CAPTURE(bad);
  CHECK(path_problem(bad).has_value());
  for (const char* good : {"a.md",
                           "a:b.md",
                           "What?.md",
                           "CON.md",
                           "dot.",
                           " lead.md",
                           "100%.md",
                           "..a/...b.md",
                           "gitx.md",
                           "\u0645\u06CC\u200C\u062E.md",
                           "\U0001F469\u200D\U0001F4BB/a.md"}) {
    CAPTURE(good);
    CHECK_FALSE(path_problem(good).has_value());
  }
}

TEST_CASE("push: an item that was refused is staged by the same push once it is accepted", "[server-mock]") {
  ServiceWorld world;
  SyncClient client = SyncClient::with_new_source(world, world.mara);
  const Json document = world.create_document(world.mara, "Late", "one").body;
  Json item = document;
  item["path"] = "Late.md";
  item["document_id"] = document.at("id");
  const Json items = Json::array({updated(item, "two")});
  const std::string plan = client.plan_id();
  CHECK(client.push(plan, items).body.at("rejected")[0].at("code") == "forbidden");
  const Json root =
      world.call("sync.source_get", world.mara, nullptr, {{"source_id", client.source_id()}}).body.at("root_node_id");
  REQUIRE(
      world.call("nodes.move", world.mara, {{"parent_node_id", root}}, {{"node_id", document.at("node_id")}}).status ==
      200);
  const Outcome again = client.push(plan, items);
  CHECK(again.body.at("accepted").size() == 1);
  CHECK(client.commit(plan, Json::array({again.body.at("push_id")})).body.at("applied").size() == 1);
  CHECK(client.tree() == Json{{"Late.md", "two"}});
}
