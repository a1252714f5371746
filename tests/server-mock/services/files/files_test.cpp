#include "server-mock/services/files/files.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "api-client/base/sha256.hpp"
#include "tests/server-mock/services/service_world.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

struct Started {
  Json body = {};
  std::string secret = {};
};

Started start(ServiceWorld& world, const Caller& caller, std::size_t size, std::string_view name = "notes.md") {
  const Outcome started = world.call(
      "files.upload_start", caller, {{"file_name", name}, {"mime_type", "text/markdown"}, {"size_bytes", size}});
  REQUIRE(started.status == 201);
  const std::string url = started.body.at("upload_url");
  CHECK(url.starts_with("http://127.0.0.1:4711/uploads/"));
  return {.body = started.body, .secret = url.substr(url.rfind('/') + 1)};
}

/// The status of the PUT: 200, or that of its error.
int put(ServiceWorld& world, const Started& started, std::string_view bytes) {
  auto upload = UploadPut::begin(*world.world, started.secret, "text/markdown", std::nullopt);
  if (!upload) return upload.error().status;
  if (const auto taken = upload->take(bytes); !taken) return taken.error().status;
  const auto done = upload->finish(*world.world);
  return done ? 200 : done.error().status;
}

Outcome finish(ServiceWorld& world, const Caller& caller, const Started& started, std::size_t size) {
  return world.call("files.upload_finish",
                    caller,
                    {{"upload_id", started.body.at("upload_id")},
                     {"blob_name", started.body.at("blob_name")},
                     {"file_name", "notes.md"},
                     {"mime_type", "text/markdown"},
                     {"size_bytes", size}});
}

Json make_asset(ServiceWorld& world, const Caller& caller, std::string_view text) {
  const Started started = start(world, caller, text.size());
  REQUIRE(put(world, started, text) == 200);
  Outcome made = finish(world, caller, started, text.size());
  REQUIRE(made.status == 201);
  return std::move(made.body);
}

Outcome get_asset(ServiceWorld& world, const Caller& caller, const Json& id) {
  return world.call("files.get", caller, nullptr, {{"asset_id", id}});
}

Outcome operation(ServiceWorld& world, const Caller& caller, const Json& id) {
  return world.call("files.operation", caller, nullptr, {{"operation_id", id}});
}

Outcome organize(ServiceWorld& world, const Caller& caller, const Json& asset, Json target = nullptr) {
  return world.call("files.organize",
                    caller,
                    {{"instruction", "by headings"}, {"target_root_node_id", std::move(target)}},
                    {{"asset_id", asset}});
}

/// Status and phase at each look, until the run is over.
std::vector<std::string> look_until_over(ServiceWorld& world, const Caller& caller, const Json& id) {
  std::vector<std::string> seen;
  while (seen.size() < 10) {
    const Outcome outcome = operation(world, caller, id);
    seen.push_back(outcome.body.at("status").get<std::string>() + " " + outcome.body.at("phase").get<std::string>());
    if (seen.back().starts_with("succeeded") || seen.back().starts_with("failed")) break;
  }
  return seen;
}

Json search_files(ServiceWorld& world, const Caller& caller, std::string_view query) {
  return world.call("search.run", caller, {{"query", query}, {"kinds", {"asset"}}}).body.at("data");
}

}  // namespace

TEST_CASE("files: started, put, finalized, listed", "[server-mock]") {
  ServiceWorld world;
  const std::string text = "# Tides\n\nHigh water at noon.\n";
  const Started started = start(world, world.tomas, text.size());
  CHECK(started.body.at("upload_headers") == Json{{"Content-Type", "text/markdown"}});
  CHECK(started.body.at("expires_at") == "2026-11-20T11:00:00.000Z");
  CHECK(put(world, started, text) == 200);
  const Outcome made = finish(world, world.tomas, started, text.size());
  REQUIRE(made.status == 201);
  CHECK(made.body.at("content_sha256") == Sha256::of(text).hex());
  CHECK(made.body.at("title") == "notes.md");
  CHECK(made.body.at("status") == "stored");
  CHECK(made.body.at("processing_status") == "ready");
  const std::string self = "/v1/files/" + made.body.at("id").get<std::string>();
  CHECK(made.body.at("links") ==
        Json{{"self", self}, {"content", self + "/content"}, {"organize", self + ":organize"}});
  CHECK(get_asset(world, world.mara, made.body.at("id")).body == made.body);
  const Json second = make_asset(world, world.mara, "second");
  CHECK(world.call("files.list", world.mara, nullptr, {{"limit", 50}}).body == Json{{"data", {second, made.body}}});
  CHECK(world.call("files.list", world.mara, nullptr, {{"limit", 1}}).body == Json{{"data", {second}}});
}

TEST_CASE("files: an incomplete upload, or one finalized with another size, is refused", "[server-mock]") {
  ServiceWorld world;
  const Started started = start(world, world.mara, 5);
  CHECK(finish(world, world.mara, started, 5).code == "upload_incomplete");
  CHECK(put(world, started, "abc") == 200);
  CHECK(finish(world, world.mara, started, 5).code == "upload_incomplete");
  CHECK(finish(world, world.mara, started, 3).code == "upload_incomplete");
  CHECK(put(world, started, "abcde") == 200);
  CHECK(finish(world, world.mara, started, 6).code == "upload_incomplete");
  CHECK(put(world, started, "abcdef") == 413);
  const Outcome made = finish(world, world.mara, started, 5);
  CHECK(made.body.at("content_sha256") == Sha256::of("abcde").hex());
}

TEST_CASE("files: the last PUT counts, until the upload is finalized", "[server-mock]") {
  ServiceWorld world;
  const Started started = start(world, world.mara, 5);
  CHECK(put(world, started, "first") == 200);
  CHECK(put(world, started, "later") == 200);
  const Outcome made = finish(world, world.mara, started, 5);
  CHECK(made.body.at("content_sha256") == Sha256::of("later").hex());
  CHECK(put(world, started, "after") == 409);
  const Outcome again = finish(world, world.mara, started, 5);
  CHECK(again.status == 409);
  CHECK(again.code == "upload_consumed");
  CHECK(again.body == Json{{"asset_id", made.body.at("id")}});
}

TEST_CASE("files: a PUT that began before the finalize and ends after it changes nothing", "[server-mock]") {
  ServiceWorld world;
  const Started started = start(world, world.mara, 5);
  REQUIRE(put(world, started, "first") == 200);
  auto late = UploadPut::begin(*world.world, started.secret, "text/markdown", 5);
  REQUIRE(late->take("later"));
  const Outcome made = finish(world, world.mara, started, 5);
  const auto done = late->finish(*world.world);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == "upload_consumed");
  CHECK(get_asset(world, world.mara, made.body.at("id")).body.at("content_sha256") == Sha256::of("first").hex());
}

TEST_CASE("files: after an hour the address is 410, and so is the finalize", "[server-mock]") {
  ServiceWorld world;
  const Started started = start(world, world.mara, 5);
  CHECK(put(world, started, "bytes") == 200);
  world.clock.time += std::chrono::minutes{59};
  CHECK(put(world, started, "bytes") == 200);
  world.clock.time += std::chrono::minutes{1};
  CHECK(put(world, started, "bytes") == 410);
  const Outcome late = finish(world, world.mara, started, 5);
  CHECK(late.status == 410);
  CHECK(late.code == "upload_expired");
  start(world, world.mara, 5);  // whoever comes next clears away
  CHECK(put(world, started, "bytes") == 410);
}

TEST_CASE("files: bytes that were cleared away are not there either where the clock was set back", "[server-mock]") {
  ServiceWorld world;
  const Started started = start(world, world.mara, 5);
  CHECK(put(world, started, "bytes") == 200);
  world.clock.time += std::chrono::hours{1};
  start(world, world.mara, 5);
  world.clock.time -= std::chrono::minutes{30};
  CHECK(finish(world, world.mara, started, 5).code == "upload_incomplete");
  CHECK(put(world, started, "again") == 200);
  CHECK(finish(world, world.mara, started, 5).status == 201);
}

TEST_CASE("files: an unknown address, upload or blob name is 404", "[server-mock]") {
  ServiceWorld world;
  Started started = start(world, world.mara, 5);
  CHECK(put(world, {.secret = "nonsense"}, "bytes") == 404);
  CHECK(put(world, {.secret = ""}, "bytes") == 404);
  started.body["blob_name"] = "uploads/other";
  CHECK(finish(world, world.mara, started, 5).status == 404);
}

TEST_CASE("files: every member reads, editors write, strangers see nothing", "[server-mock]") {
  ServiceWorld world;
  const Json asset = make_asset(world, world.mara, "# Secret plan\n\nwalrus\n");
  const Json id = asset.at("id");
  const Caller viewer = world.add_person("viewer", "viewer");
  Caller stranger = world.tomas;
  stranger.workspace_id = world.built_in.other_workspace_id;
  stranger.role = contract::Role::owner;
  CHECK(get_asset(world, viewer, id).status == 200);
  CHECK(search_files(world, viewer, "walrus").size() == 1);
  CHECK(organize(world, viewer, id).code == "insufficient_role");
  const Started started = start(world, world.mara, 5);
  CHECK(finish(world, viewer, started, 5).code == "insufficient_role");
  CHECK(finish(world, stranger, started, 5).status == 404);
  CHECK(get_asset(world, stranger, id).status == 404);
  CHECK(organize(world, stranger, id).status == 404);
  CHECK(search_files(world, stranger, "walrus").empty());
  CHECK(world.call("files.list", stranger, nullptr, {{"limit", 50}}).body.at("data").empty());
  const Outcome run = organize(world, world.mara, id);
  CHECK(operation(world, stranger, run.body.at("operation_id")).status == 404);
  CHECK(operation(world, viewer, run.body.at("operation_id")).status == 200);
}

TEST_CASE("files: a text is found by its words with a snippet, another file by its name", "[server-mock]") {
  ServiceWorld world;
  const Json text = make_asset(world, world.mara, "# Harbour\n\nThe walrus sleeps.\n\n# Other\n\nnothing\n");
  make_asset(world, world.mara, std::string("walrus\0binary", 13));
  const Json found = search_files(world, world.mara, "walrus");
  REQUIRE(found.size() == 1);
  CHECK(found.at(0).at("kind") == "asset");
  CHECK(found.at(0).at("node_id") == text.at("node_id"));
  CHECK(found.at(0).at("heading_path") == Json{"Harbour"});
  CHECK(found.at(0).at("document_id").is_null());
  CHECK(found.at(0).at("chunk_id").is_string());
  CHECK_THAT(found.at(0).at("snippet").get<std::string>(), Catch::Matchers::Contains("walrus"));
  CHECK(found.at(0).at("links").at("asset") == text.at("links").at("self"));
  CHECK(search_files(world, world.mara, "notes.md").size() == 2);
}

TEST_CASE("files: an organization run shows each phase once and creates documents", "[server-mock]") {
  ServiceWorld world;
  const Json asset = make_asset(world, world.mara, "before\n\n# One\n\nfirst\n\n## Deeper\n\nsecond\n\n# Three\n");
  const Outcome run = organize(world, world.mara, asset.at("id"), world.built_in.project_node_id);
  REQUIRE(run.status == 202);
  CHECK(run.body.at("status") == "queued");
  CHECK(run.body.at("phase") == "received");
  const Json id = run.body.at("operation_id");
  CHECK(look_until_over(world, world.tomas, id) ==
        std::vector<std::string>{"running reading", "running planning", "running writing", "succeeded done"});
  CHECK(operation(world, world.mara, id).body.at("status") == "succeeded");
  const auto content = [&](const char* title) {
    return world.call("docs.get", world.mara, nullptr, {{"document_id", world.id_of_document(title)}}).body;
  };
  CHECK(content("notes.md").at("content") == "before\n\n");
  CHECK(content("One").at("content") == "# One\n\nfirst\n\n");
  CHECK(content("Deeper").at("content") == "## Deeper\n\nsecond\n\n");
  CHECK(content("Three").at("content") == "# Three\n");
  CHECK(content("One").at("parent_node_id") == world.built_in.project_node_id);
  CHECK(content("One").at("created_by").at("name") == "Mara Lindqvist");
}

TEST_CASE("files: time alone completes an organization run", "[server-mock]") {
  ServiceWorld world;
  const Json asset = make_asset(world, world.mara, "# One\n\nfirst\n");
  const Outcome run = organize(world, world.mara, asset.at("id"));
  world.clock.time += std::chrono::minutes{1};
  const Outcome over = operation(world, world.mara, run.body.at("operation_id"));
  CHECK(over.body.at("status") == "succeeded");
  CHECK(over.body.at("updated_at") == "2026-11-20T10:00:20.000Z");
  CHECK_FALSE(world.id_of_document("One").empty());
}

TEST_CASE("files: organizing a file that is no text fails and says why", "[server-mock]") {
  ServiceWorld world;
  const Json asset = make_asset(world, world.mara, std::string("\x89PNG\0\0", 6));
  const Outcome run = organize(world, world.mara, asset.at("id"));
  CHECK(look_until_over(world, world.mara, run.body.at("operation_id")) == std::vector<std::string>{"failed reading"});
  const Outcome over = operation(world, world.mara, run.body.at("operation_id"));
  CHECK_THAT(over.header("X-Mock-Message"), Catch::Matchers::Contains("not a text"));
}

TEST_CASE("files: a target must be visible, changeable and able to hold documents", "[server-mock]") {
  ServiceWorld world;
  const Json asset = make_asset(world, world.mara, "# One\n");
  CHECK(organize(world, world.mara, asset.at("id"), "01900000-0000-7000-8000-000000000000").status == 404);
  CHECK(organize(world, world.mara, asset.at("id"), asset.at("node_id")).status == 422);
}

TEST_CASE("files: beside a file go only documents of who may write there, at the call and at the end",
          "[server-mock]") {
  ServiceWorld world;
  const Caller lena = world.add_person("lena", "editor");
  const Json source = world.call("sync.source_create", world.mara, {{"name", "Private"}}).body;
  const auto hide = [&](const Json& asset) {
    const Json body = {{"parent_node_id", source.at("root_node_id")}};
    REQUIRE(world.call("nodes.move", world.mara, body, {{"node_id", asset.at("node_id")}}).status == 200);
  };
  const auto count = [&] {
    const Json parameters = {{"source_id", source.at("id")}};
    return world.call("sync.source_get", world.mara, nullptr, parameters).body.at("document_count");
  };
  const Json hidden = make_asset(world, world.mara, "# One\n");
  hide(hidden);
  CHECK(organize(world, lena, hidden.at("id")).code == "forbidden");
  const Json moved = make_asset(world, world.mara, "# Two\n");
  const Outcome run = organize(world, lena, moved.at("id"));
  hide(moved);
  CHECK(look_until_over(world, lena, run.body.at("operation_id")).back() == "failed done");
  CHECK_THAT(operation(world, lena, run.body.at("operation_id")).header("X-Mock-Message"),
             Catch::Matchers::Contains("may no longer change it"));
  CHECK(count() == 0);
  look_until_over(world, lena, organize(world, world.mara, hidden.at("id")).body.at("operation_id"));
  CHECK(count() == 1);
}

TEST_CASE("files: an asset can be moved, and its node names it", "[server-mock]") {
  ServiceWorld world;
  const Json asset = make_asset(world, world.mara, "text");
  const Outcome moved = world.call("nodes.move",
                                   world.tomas,
                                   {{"parent_node_id", world.built_in.project_node_id}},
                                   {{"node_id", asset.at("node_id")}});
  CHECK(moved.body.at("kind") == "asset");
  CHECK(moved.body.at("asset_id") == asset.at("id"));
  CHECK(get_asset(world, world.mara, asset.at("id")).body.at("parent_node_id") == world.built_in.project_node_id);
}

TEST_CASE("files: bytes outlive the program with their rows, orphans and a reset free them", "[server-mock]") {
  const ws::test::TemporaryFolder folder;
  const std::string data = folder / "world.db";
  const auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(data + ".assets"), std::filesystem::directory_iterator());
  };
  {
    ServiceWorld world(data);
    make_asset(world, world.mara, "text");
    const Started replaced = start(world, world.mara, 5);
    CHECK(put(world, replaced, "first") == 200);
    CHECK(put(world, replaced, "later") == 200);
    CHECK(count() == 2);
    BlobWriter writer = world.world->blobs.begin().value();
    REQUIRE(world.world->blobs.keep(writer, "orphan"));
  }
  const StoppedClock clock;
  auto world = World::open(data, {}, clock);
  REQUIRE(world);
  REQUIRE(drop_orphans(**world));
  CHECK(count() == 2);
  REQUIRE((*world)->clear());
  CHECK(count() == 0);
}

TEST_CASE("files: a text is split into one document for each heading", "[server-mock]") {
  const auto titles = [](std::string_view text) {
    std::vector<std::string> all;
    for (const DocumentSection& extract : split_documents(text, "file.md")) all.push_back(extract.title);
    return all;
  };
  CHECK(titles("no heading") == std::vector<std::string>{"file.md"});
  CHECK(titles("\n\n# A\n```\n# no\n```\n## B\n# \n") == std::vector<std::string>{"A", "B", "file.md"});
  CHECK(titles("  \n").empty());
}
