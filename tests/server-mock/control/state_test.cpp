// Snapshots, and the state as JSON.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/server-mock/access/things.hpp"
#include "tests/server-mock/wire.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

namespace {

std::size_t hits(Wire& wire, const std::string& word) {
  return parse(wire.send("POST", "/v1/search", {{"query", word}})).at("data").size();
}

int put(Wire& wire, const std::string& path, const std::string& bytes) {
  return wire
      .ask({.method = "PUT", .target = path, .json = bytes, .headers = {"Content-Type: application/octet-stream"}})
      .status;
}

/// Creates an asset with these bytes; returns the path of its content.
std::string upload(Wire& wire, const std::string& bytes) {
  const Json begun =
      parse(wire.send("POST", "/v1/files/uploads", {{"file_name", "a.txt"}, {"size_bytes", bytes.size()}}));
  const auto url = begun.at("upload_url").get<std::string>();
  CHECK(put(wire, url.substr(url.find("/uploads/")), bytes) == 200);
  const Json asset = parse(wire.send("POST",
                                     "/v1/files/uploads:finalize",
                                     {{"upload_id", begun.at("upload_id")},
                                      {"blob_name", begun.at("blob_name")},
                                      {"file_name", "a.txt"},
                                      {"size_bytes", bytes.size()}}));
  return "/v1/files/" + asset.at("id").get<std::string>() + "/content";
}

bool is_sorted(const Json& value) {
  std::vector<std::string> names;
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) names.push_back(name);
  }
  return std::ranges::is_sorted(names) &&
         std::ranges::all_of(value, [](const Json& inner) { return !inner.is_structured() || is_sorted(inner); });
}

}  // namespace

TEST_CASE("state: an event names only what is there, so that the state can be put back", "[server-mock]") {
  Wire wire;
  const std::string document = wire.new_document("t", "x");
  const std::string none = "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b";
  for (const std::string member : {"document_id", "thread_id", "comment_id"}) {
    const Json told = wire.control("POST", "/events", {{"agent", "scout"}, {member, none}}, 422);
    CHECK(told["detail"][0]["loc"][1] == member);
  }
  wire.control("POST", "/events", {{"agent", "scout"}, {"document_id", document}}, 201);
  wire.control("PUT", "/state", wire.control("GET", "/state"));
}

TEST_CASE("clock: it goes from 1970 to 9899, so that what it tells can be put back", "[server-mock]") {
  Wire wire;
  for (const char* clock : {"frozen:1969-12-31T23:59:59Z", "frozen:9900-01-01T00:00:00Z", "offset:-876000h"}) {
    CAPTURE(clock);
    CHECK_THAT(dump(wire.control("PUT", "/clock", {{"clock", clock}}, 422)), Catch::Matchers::Contains("1970"));
    CHECK_FALSE(MockClock::parse(clock));
  }
  for (const char* clock : {"frozen:1970-01-01T00:00:00Z", "frozen:9899-12-31T23:00:00Z"}) {
    wire.control("PUT", "/clock", {{"clock", clock}});
    wire.control("POST", "/events", {{"agent", "scout"}}, 201);
    wire.control("PUT", "/state", wire.control("GET", "/state"));
  }
  wire.control("POST", "/clock:advance", {{"seconds", 3599}});
  wire.control("POST", "/clock:advance", {{"seconds", 1}}, 422);
}

TEST_CASE("snapshots: restore state, clock and switches", "[server-mock]") {
  ws::test::TemporaryFolder folder;
  ApplicationOptions options;
  if (GENERATE(false, true)) options.sandbox.data = (folder / "world.db").string();
  Wire wire(options);
  wire.new_document("kept", "periwinkle");
  wire.advance(60);
  const Json documents = wire.get("/v1/documents");
  CHECK(wire.control("POST", "/snapshots", {{"name", "then"}}, 201).at("name") == "then");
  const std::string next = wire.new_document("lost", "oystercatcher");
  wire.advance(60);
  wire.control("PATCH", "/assumptions", {{"error_style", "html"}});
  CHECK(hits(wire, "oystercatcher") == 1);
  wire.control("POST", "/faults", {{"operation", "docs.update"}, {"effect", {{"status", 503}}}}, 201);
  const std::size_t asked = wire.control("GET", "/requests").at("data").size();
  const Json back = wire.control("POST", "/snapshots/then:restore");
  CHECK(back.at("now") == "2026-11-20T10:01:00.000Z");
  CHECK(back.at("token") == wire.token());
  CHECK(wire.get("/v1/documents") == documents);
  CHECK(wire.control("GET", "/assumptions").at("data").at(0).at("value") == "plain");
  CHECK(hits(wire, "oystercatcher") == 0);
  CHECK(hits(wire, "periwinkle") == 1);
  CHECK(wire.new_document("lost", "oystercatcher") == next);
  // The journal and faults stay, and the description of the call says so.
  CHECK_THAT(dump(wire.control("GET", "/openapi.json").at("paths").at("/_mock/snapshots/{name}:restore")),
             Catch::Contains("the journal, faults and the rate limit stay as they are"));
  CHECK(wire.control("GET", "/requests").at("data").size() > asked);
  CHECK(wire.control("GET", "/faults").at("data").size() == 1);
  // A snapshot can be restored repeatedly, and by reset, which also clears the journal and faults.
  wire.control("POST", "/reset", {{"to", "then"}});
  CHECK(wire.control("GET", "/requests").at("data").empty());
  CHECK(wire.control("GET", "/faults").at("data").empty());
  CHECK(wire.get("/v1/documents") == documents);
}

TEST_CASE("snapshots: with a data file they last, as switches and the clock do", "[server-mock]") {
  ws::test::TemporaryFolder folder;
  const auto options = [&] {
    ApplicationOptions made;
    made.sandbox.data = (folder / "world.db").string();
    return made;
  };
  const auto switch_of = [](Wire& wire, const std::string& key) {
    const Json all = wire.control("GET", "/assumptions").at("data");
    const auto found = std::ranges::find_if(all, [&](const Json& one) { return one.at("key") == key; });
    return found->at("value").get<std::string>();
  };
  std::string content;
  Json state;
  std::string token;
  {
    Wire wire(options());
    token = wire.token();
    content = upload(wire, "the bytes");
    wire.control("PATCH", "/assumptions", {{"error_style", "problem"}});
    wire.control("POST", "/snapshots/gone", nullptr, 201);
    wire.control("POST", "/snapshots/then", nullptr, 201);
    wire.new_document("replaced");
    wire.control("POST", "/snapshots/then", nullptr, 201);
    state = wire.control("GET", "/state");
    wire.control("DELETE", "/snapshots/gone", nullptr, 204);
    wire.control("POST", "/reset", {{"to", "seed"}});
    CHECK(switch_of(wire, "error_style") == "plain");
    wire.control("PATCH", "/assumptions", {{"error_style", "html"}, {"list_extra", "unknown_fields"}});
    wire.control("PATCH", "/assumptions", {{"list_extra", "none"}, {"revision_mismatch", "412"}});
  }
  {
    ApplicationOptions named = options();
    REQUIRE(named.sandbox.assumptions.set("revision_mismatch=409"));
    Wire wire(named);
    CHECK(switch_of(wire, "error_style") == "html");
    CHECK(switch_of(wire, "list_extra") == "none");
    CHECK(switch_of(wire, "revision_mismatch") == "409");
    CHECK(wire.control("GET", "/snapshots").at("data").size() == 1);
    CHECK(wire.ask({.target = content, .token = wire.token()}).status == 404);
    CHECK(wire.control("POST", "/snapshots/then:restore").at("token") == token);
    CHECK(wire.control("GET", "/state") == state);
    CHECK(wire.ask({.target = content, .token = token}).body == "the bytes");
  }
  for (const ExistingData existing : {ExistingData::replace, ExistingData::keep}) {
    ApplicationOptions fresh = options();
    fresh.sandbox.existing_data = existing;
    Wire wire(fresh);
    CHECK(switch_of(wire, "error_style") == "plain");
    CHECK(wire.control("GET", "/snapshots").at("data").empty());
  }
  CHECK(std::filesystem::is_empty(folder / "world.db.snapshots"));
}

TEST_CASE("data: a clock that was set goes on, unless the next run names another", "[server-mock]") {
  ws::test::TemporaryFolder folder;
  SandboxOptions options = {.data = (folder / "world.db").string()};
  {
    const auto sandbox = Sandbox::open(options).value();
    sandbox->clock = MockClock::parse("offset:+2h").value();
    REQUIRE(sandbox->save_settings());
  }
  CHECK(Sandbox::open(options).value()->clock.text() == "offset:+2h");
  options.is_clock_given = true;
  for (const char* clock : {"offset:+1h", "real"}) {
    options.clock = MockClock::parse(clock).value();
    CHECK(Sandbox::open(options).value()->clock.text() == clock);
  }
}

TEST_CASE("snapshots: are listed, replaced and deleted", "[server-mock]") {
  Wire wire;
  wire.control("POST", "/snapshots/b", nullptr, 201);
  wire.control("POST", "/snapshots", {{"name", "a"}}, 201);
  const Json data = wire.control("GET", "/snapshots").at("data");
  CHECK(data.size() == 2);
  CHECK(data.at(0).at("name") == "a");
  wire.new_document("one");
  wire.control("POST", "/snapshots", {{"name", "a"}}, 201);
  wire.control("POST", "/reset", {{"to", "empty"}});
  wire.control("POST", "/snapshots/a:restore");
  CHECK(wire.get("/v1/documents").at("data").at(0).at("title") == "one");
  wire.control("GET", "/snapshots/c", nullptr, 404);
  wire.control("POST", "/snapshots/c:restore", nullptr, 404);
  wire.control("POST", "/reset", {{"to", "c"}}, 422);
  for (const char* name : {"", "seed", "a b", "a/b"}) wire.control("POST", "/snapshots", {{"name", name}}, 422);
  wire.control("DELETE", "/snapshots/a", nullptr, 204);
  wire.control("DELETE", "/snapshots/a", nullptr, 404);
  wire.control("DELETE", "/snapshots", nullptr, 204);
  CHECK(wire.control("GET", "/snapshots").at("data").empty());
}

TEST_CASE("snapshots: the bytes of assets come back with them", "[server-mock]") {
  Wire wire;
  const std::string content = upload(wire, "the bytes");
  wire.control("POST", "/snapshots/then", nullptr, 201);
  wire.control("POST", "/reset", {{"to", "seed"}});
  CHECK(wire.ask({.target = content, .token = wire.token()}).status == 404);
  wire.control("POST", "/snapshots/then:restore");
  CHECK(wire.ask({.target = content, .token = wire.token()}).body == "the bytes");
}

TEST_CASE("snapshots: their bytes are neither replaced nor removed meanwhile", "[server-mock]") {
  Wire wire;
  wire.control("POST", "/snapshots", {{"name", "before"}}, 201);
  const std::string content = upload(wire, "the bytes");
  wire.control("POST", "/snapshots", {{"name", "with"}}, 201);
  // Ids count from the snapshot again, so a new upload must not overwrite the bytes that are kept.
  wire.control("POST", "/snapshots/before:restore");
  CHECK(upload(wire, "others") == content);
  CHECK(wire.ask({.target = content, .token = wire.token()}).body == "others");
  wire.control("POST", "/snapshots/with:restore");
  CHECK(wire.ask({.target = content, .token = wire.token()}).body == "the bytes");

  const Json begun = parse(wire.send("POST", "/v1/files/uploads", {{"file_name", "b"}, {"size_bytes", 4}}));
  const std::string url = begun.at("upload_url");
  const std::string path = url.substr(url.find("/uploads/"));
  CHECK(put(wire, path, "kept") == 200);
  wire.control("POST", "/snapshots", {{"name", "put"}}, 201);
  CHECK(put(wire, path, "gone") == 200);
  wire.advance(3600);  // the upload expires, and its bytes with it: but for those of the snapshot
  wire.control("POST", "/snapshots/put:restore");
  const Json asset = parse(wire.send("POST",
                                     "/v1/files/uploads:finalize",
                                     {{"upload_id", begun.at("upload_id")},
                                      {"blob_name", begun.at("blob_name")},
                                      {"file_name", "b"},
                                      {"size_bytes", 4}}));
  CHECK(wire.ask({.target = asset.at("links").at("content"), .token = wire.token()}).body == "kept");
}

TEST_CASE("state: can be exported and imported as JSON", "[server-mock]") {
  Wire one;
  one.new_document("kept", "periwinkle");
  one.send("PATCH", "/v1/agents/" + one.built_in().agent_id, {{"display_name", "Renamed"}});
  const Json state = one.control("GET", "/state");
  CHECK(state.at("clock") == "frozen:2026-11-20T10:00:00.000Z");
  CHECK(state.at("tables").at("documents").size() == 11);
  CHECK(dump(state) == dump(one.control("GET", "/state")));
  CHECK(is_sorted(state));
  Wire two;
  two.new_document("overwritten");
  CHECK(two.control("PUT", "/state", state) == state);
  CHECK(two.get("/v1/documents") == one.get("/v1/documents"));
  CHECK(two.get("/v1/agents") == one.get("/v1/agents"));
  CHECK(hits(two, "periwinkle") == 1);
  // The default person is the first by the imported ids.
  Json strangers = state;
  strangers["tables"]["meta"] = Json::array();
  CHECK(two.control("PUT", "/state", strangers).at("tables").at("meta").empty());
  CHECK(two.control("PUT", "/state", state) == state);
  CHECK(two.new_document("next") == one.new_document("next"));
}

TEST_CASE("state: what the API took comes back to the last byte, whatever it is", "[server-mock]") {
  Wire wire;
  const Things things(wire);
  wire.new_document(std::string("a\0b", 3), std::string("one\0two\n\0", 9));
  wire.send("POST", "/v1/projects", {{"title", "keyed"}}, {"Idempotency-Key: k"});
  const std::string conflict = "/v1/sync/conflicts/" + things["conflict"];
  const Json open = wire.get(conflict);
  SECTION("a document deleted here and there leaves no result") {
    const std::string id = things["synced_document"];
    REQUIRE(wire.ask({.method = "DELETE", .target = "/v1/documents/" + id, .token = wire.token()}).status == 200);
    const int revision = wire.get(conflict).at("remote").at("content_revision");
    const Json resolved = parse(wire.send(
        "POST", conflict + ":resolve", {{"resolution", "keep_remote"}, {"expected_content_revision", revision}}));
    REQUIRE(resolved.at("result").is_null());
  }
  SECTION("a conflict that is open") {}
  const Json state = wire.control("GET", "/state");
  CHECK(wire.control("PUT", "/state", state) == state);
}

TEST_CASE("state: the bytes of its files are those that the mock has, or it is refused", "[server-mock]") {
  ws::test::TemporaryFolder folder;
  ApplicationOptions options;
  if (GENERATE(false, true)) options.sandbox.data = (folder / "world.db").string();
  Wire wire(options);
  const std::string content = upload(wire, "the bytes");
  Json state = wire.control("GET", "/state");
  CHECK(wire.control("PUT", "/state", state) == state);
  CHECK(wire.ask({.target = content, .token = wire.token()}).body == "the bytes");
  const auto named = [&] {
    std::set<std::string> places;
    const Json refused = wire.control("PUT", "/state", state, 422);
    for (const Json& fault : refused.at("detail")) places.insert(dump(fault.at("loc")));
    return places;
  };
  const std::set<std::string> asset_and_upload = {R"(["body","tables","assets",0,"blob"])",
                                                  R"(["body","tables","uploads",0,"blob"])"};
  const std::string blob = state.at("tables").at("assets").at(0).at("blob");
  const std::string other = blob.substr(0, blob.size() - 1) + (blob.back() == '0' ? "1" : "0");
  for (const std::string& name : {std::string(), std::string("../world.db"), other}) {
    CAPTURE(name);
    state["tables"]["assets"][0]["blob"] = name;
    CHECK(named() == std::set<std::string>{R"(["body","tables","assets",0,"blob"])"});
  }
  state["tables"]["assets"][0]["blob"] = blob;
  CHECK(wire.ask({.target = content, .token = wire.token()}).body == "the bytes");
  wire.control("POST", "/reset", {{"to", "seed"}});
  CHECK(named() == asset_and_upload);
  upload(wire, "others, under the same name");
  CHECK(named() == asset_and_upload);
}

TEST_CASE("state: every word and every reference of every table is checked", "[server-mock]") {
  Wire wire;
  const Things things(wire);
  const std::string id = things["document"];
  wire.send("POST", "/v1/projects", {{"title", "keyed"}}, {"Idempotency-Key: k"});
  const Json state = wire.control("GET", "/state");
  // Words and names that mean nothing to the mock: those of clients, kinds of events, names outside the tables.
  const std::set<std::string> free_columns = {"agent_events.kind",
                                              "agent_events.worker_id",
                                              "comment_entries.conversation_thread_id",
                                              "conversations.thread_id",
                                              "id_counters.kind",
                                              "sync_conflicts.client_id",
                                              "sync_plans.client_id",
                                              "sync_plans.commit_id",
                                              "sync_staged.document_id",
                                              "test_runs.suite_id"};
  const std::set<std::string> word_columns = {"actor",
                                              "action",
                                              "audience",
                                              "ceiling",
                                              "owner",
                                              "permission",
                                              "permissions",
                                              "phase",
                                              "provider",
                                              "resolution",
                                              "role",
                                              "scopes",
                                              "sources",
                                              "subject"};
  const auto is_checked = [&](const std::string& name) {
    return name.ends_with("_id") || name.ends_with("kind") || name.ends_with("status") || word_columns.contains(name);
  };
  std::set<std::string> missed;
  std::set<std::string> tables;
  for (const auto& [table, rows] : state.at("tables").items()) {
    if (rows.empty()) continue;
    tables.insert(table);
    for (const auto& [column, value] : rows.at(0).items()) {
      if (!value.is_string() || !is_checked(column) || free_columns.contains(table + "." + column)) continue;
      Json other = state;
      const bool is_list = column == "scopes" || column == "permissions" || column == "sources";
      other["tables"][table][0][column] = is_list ? R"(["nonsense"])" : "019b76da-ffff-7000-8000-000000000000";
      const Json answer = wire.control("PUT", "/state", other, 422);
      const auto names_it = [&](const Json& fault) {
        return fault.at("loc") == Json{"body", "tables", table, 0, column};
      };
      if (std::ranges::none_of(answer.at("detail"), names_it)) missed.insert(table + "." + column);
    }
  }
  CHECK(missed == std::set<std::string>());
  // Those without a row here hold words and references of the same names.
  CHECK(tables.size() >= 22);
}

TEST_CASE("state: what a row shows has the form that the API gives it", "[server-mock]") {
  Wire wire;
  const Things things(wire);
  wire.send("POST", "/v1/projects", {{"title", "keyed"}}, {"Idempotency-Key: k"});
  const Json state = wire.control("GET", "/state");
  struct Fault {
    std::string table;
    std::string column;
    Json value;
    std::string named = {};  ///< where it is not the column
  };
  for (const auto& [table, column, value, named] : std::vector<Fault>{
           {"conversations", "thread_id", "x"},
           {"conversations", "thread_id", ""},
           {"comment_entries", "conversation_thread_id", "x"},
           {"comment_entries", "agent_mentions", "[1]"},
           {"comment_entries", "actor_identity", "1"},
           {"questions", "passages", R"([{"a": 1}])"},
           {"questions", "passages", "{"},
           {"test_runs", "results", "[{}]"},
           {"sync_conflicts", "remote_body", "{}"},
           {"sync_plans", "commit_body", "{}"},
           {"idempotency_records", "status", 42},
           {"idempotency_records", "status", 1'000'000'000'000'000},
           {"idempotency_records", "headers", R"([["X", "a\r\nb: c"]])"},
           {"sync_entries", "path", "../a.md"},
           {"sync_entries", "path", "/etc/x"},
           {"sync_entries", "path", "other.md", "path_key"},
           {"sync_conflicts", "local_path", ".."},
           {"agents", "handle", ""},
           {"agents", "handle", "Mara"},
           {"agents", "status", ""},
           {"comment_entries", "actor_identity", ""},
       }) {
    CAPTURE(table, column, dump(value));
    Json other = state;
    REQUIRE_FALSE(other.at("tables").at(table).empty());
    other["tables"][table][0][column] = value;
    const Json refused = wire.control("PUT", "/state", other, 422);
    std::set<std::string> columns;
    for (const Json& fault : refused.at("detail")) {
      CHECK(fault.at("loc").at(2) == table);
      columns.insert(fault.at("loc").at(4).get<std::string>());
    }
    CHECK(columns.contains(named.empty() ? column : named));
  }
  CHECK(wire.control("PUT", "/state", state) == state);
}

TEST_CASE("state: counters that would make an id again are refused, and nothing is replaced", "[server-mock]") {
  Wire wire;
  const Json state = wire.control("GET", "/state");
  Json other = state;
  if (GENERATE(false, true)) {
    other["tables"].erase("id_counters");
  } else {
    for (Json& counter : other["tables"]["id_counters"]) counter["next"] = 0;
  }
  const Json refused = wire.control("PUT", "/state", other, 422);
  CHECK(refused.at("detail").at(0).at("loc") == Json{"body", "tables", "id_counters"});
  CHECK(refused.dump().find("The next document would get an id that documents has already") != std::string::npos);
  CHECK(wire.control("GET", "/state") == state);
  CHECK_FALSE(wire.new_document("next").empty());
}

TEST_CASE("state: an invalid state is refused with all errors", "[server-mock]") {
  Wire wire;
  const Json documents = wire.get("/v1/documents");
  const Json answer = wire.control(
      "PUT",
      "/state",
      {{"assumptions", {{"error_style", "loud"}}},
       {"tables", {{"users", {{{"id", "x"}, {"shoe_size", 44}}, 5}}, {"nonsense", Json::array()}, {"keys", 1}}}},
      422);
  CHECK(answer.at("detail").size() >= 5);
  wire.control("PUT", "/state", {{"clock", "sundial"}}, 422);
  wire.control("PUT", "/state", nullptr, 422);
  CHECK(wire.get("/v1/documents") == documents);
}

TEST_CASE("state: types, words, revisions and references are checked, and with a fault nothing is replaced",
          "[server-mock]") {
  Wire wire;
  const Json before = wire.control("GET", "/state");
  struct Fault {
    std::string table;
    std::string column;
    Json value;
  };
  const auto [table, column, value] = GENERATE(values<Fault>({
      {"documents", "content_revision", "x"},
      {"documents", "content_revision", 0},
      {"documents", "content_revision", 1.5},
      {"documents", "content_revision", true},
      {"documents", "content_revision", nullptr},
      {"documents", "status", "gone"},
      {"documents", "node_id", "019b76da-ffff-7000-8000-000000000000"},
      {"documents", "workspace_id", ""},
      {"documents", "content", 7},
      {"documents", "content", "another text"},
      {"documents", "content_sha256", "ABC"},
      {"documents", "size_bytes", -1},
      {"documents", "created_at", 1e18},
      {"documents", "updated_at", 300'000'000'000'000},
      {"documents", "created_by_user_id", "nobody"},
      {"documents", "id", "not-a-uuid"},
      {"nodes", "kind", "folder"},
      {"nodes", "archived", 2},
      {"nodes", "parent_id", "019b76da-ffff-7000-8000-000000000000"},
      {"members", "role", "captain"},
      {"members", "user_id", "019b76da-ffff-7000-8000-000000000000"},
      {"keys", "audience", "everybody"},
      {"keys", "scopes", "documents:read"},
      {"keys", "scopes", "[1]"},
      {"keys", "secret_sha256", ""},
      {"agents", "permissions", R"(["fly"])"},
      {"agents", "status", nullptr},
      {"agents", "owner_user_id", "019b76da-ffff-7000-8000-000000000000"},
      {"projects", "node_id", "019b76da-ffff-7000-8000-000000000000"},
      {"id_counters", "next", "1"},
  }));
  CAPTURE(table, column, value.dump());
  Json state = before;
  REQUIRE_FALSE(state.at("tables").at(table).empty());
  if (table == "keys" && column == "secret_sha256") {
    // Two keys with one secret: only SQLite sees it.
    state["tables"][table].push_back(state["tables"][table][0]);
  } else {
    state["tables"][table][0][column] = value;
  }
  const Json answer = wire.control("PUT", "/state", state, 422);
  bool is_named = false;
  for (const Json& fault : answer.at("detail")) {
    CHECK(fault.at("loc").at(0) == "body");
    CHECK(fault.at("loc").at(1) == "tables");
    if (fault.at("loc").at(2) == table) is_named = true;
  }
  CHECK(is_named);
  CHECK(wire.control("GET", "/state") == before);
}

TEST_CASE("state: each fault is named with its table, row and column", "[server-mock]") {
  Wire wire;
  Json state = wire.control("GET", "/state");
  state["clock"] = "sundial";
  state["tables"]["documents"][1]["content_revision"] = "x";
  state["tables"]["documents"][2].erase("node_id");
  state["tables"]["nodes"][0]["kind"] = "folder";
  state["tables"]["nodes"][1]["shoe_size"] = 44;
  std::set<std::string> named;
  const Json refused = wire.control("PUT", "/state", state, 422);
  for (const Json& fault : refused.at("detail")) named.insert(dump(fault.at("loc")));
  for (const char* loc : {R"(["body","clock"])",
                          R"(["body","tables","documents",1,"content_revision"])",
                          R"(["body","tables","documents",2,"node_id"])",
                          R"(["body","tables","nodes",0,"kind"])",
                          R"(["body","tables","nodes",1,"shoe_size"])"}) {
    CAPTURE(loc);
    CHECK(named.contains(loc));
  }
}

TEST_CASE("state: rows with one key are refused in words, addresses without case", "[server-mock]") {
  Wire wire;
  Json state = wire.control("GET", "/state");
  Json twin = state.at("tables").at("users").at(0);
  twin["id"] = "019b76da-ffff-7000-8000-000000000000";
  std::string email = twin.at("email");
  for (char& c : email) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  twin["email"] = email;
  state["tables"]["users"].push_back(twin);
  const Json fault = wire.control("PUT", "/state", state, 422).at("detail").at(0);
  CHECK(fault.at("loc") == Json{"body", "tables", "users", state["tables"]["users"].size() - 1});
  CHECK(fault.at("msg") == "Another row has the same users.email");
}

TEST_CASE("state: Pages that lie below each other are refused", "[server-mock]") {
  Wire wire;
  Json state = wire.control("GET", "/state");
  Json& nodes = state["tables"]["nodes"];
  const auto page = std::ranges::find_if(nodes, [](const Json& node) { return node.at("kind") == "page"; });
  REQUIRE(page != nodes.end());
  Json other = *page;
  other["id"] = "019b76da-ffff-7000-8000-000000000000";
  other["parent_id"] = page->at("id");
  (*page)["parent_id"] = other.at("id");
  nodes.push_back(other);
  CHECK(wire.control("PUT", "/state", state, 422).at("detail").size() >= 2);
}
