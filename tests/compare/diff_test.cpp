// `ws-mock diff` with a second `ws-mock` as the other side: with other switches, with planted changes, and unchanged.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/random.hpp"
#include "server-mock/compare/difference_report.hpp"
#include "server-mock/compare/replay.hpp"
#include "server-mock/compare/script.hpp"
#include "tests/support/hostile_server.hpp"
#include "tests/support/mock_process.hpp"

using namespace ws;
using namespace ws::test;
using namespace ws::mock::compare;

namespace {

bool is_whole() {
  const char* const faults = std::getenv("WS_FAULTS");
  return faults != nullptr && std::string(faults) == "all";
}

Json tables_of(const MockProcess& server) {
  return parse_bounded(server.ask({.target = "/_mock/state"}).body).value().at("tables");
}

/// The rows of the second that the first does not have as they are there.
Json rows_added(const Json& before, const Json& after, const char* table) {
  Json added = Json::array();
  for (const Json& row : after.at(table)) {
    if (std::ranges::find(before.at(table), row) == before.at(table).end()) added.push_back(row);
  }
  return added;
}

/// The rows of the first that are gone or changed in the second.
Json rows_changed(const Json& before, const Json& after, const char* table) { return rows_added(after, before, table); }

ScriptRun run_against(const MockProcess& other, Access access, const std::string& project = {}) {
  auto caller = Caller::open({.base_url = other.base_url(), .token = other.token()});
  REQUIRE(caller);
  mock::Redactor redactor(mock::Redactor::Undescribed::hidden);
  auto run = run_script(*caller, redactor, {.access = access, .project_id = project, .mark = "m1"});
  REQUIRE(run);
  return std::move(*run);
}

DifferenceReport report_of(const Exchanges& exchanges) {
  const auto switches = judge_switches(exchanges);
  Findings findings;
  const auto done = replay(exchanges, {.assumptions = assumptions_of(switches)}, findings);
  REQUIRE(done);
  return make_report("the other side", exchanges, findings, switches);
}

struct Planted {
  const char* operation;
  int status;           // of the answer that is changed
  const char* pointer;  // in its line of the recording
  enum class How { set, remove, null, reverse, twice } how;
  const char* value = "";
  bool is_short = false;  // also in the short form
};

using How = Planted::How;
#define BODY "/response_body"
/// What a service might do otherwise, each by itself.
constexpr Planted planted[] = {
    // Another status.
    {"docs.create", 201, "/status", How::set, "200", true},
    {"docs.get", 404, "/status", How::set, "410"},
    {"docs.get", 422, "/status", How::set, "400"},
    {"docs.get", 304, "/status", How::set, "200"},
    {"docs.list", 422, "/status", How::set, "200", true},
    {"docs.update", 422, "/status", How::set, "200"},
    {"docs.archive", 200, "/status", How::set, "204"},
    {"comments.add", 201, "/status", How::set, "200"},
    {"comments.add", 422, "/status", How::set, "201"},
    {"me.get", 401, "/status", How::set, "403"},
    {"projects.create", 201, "/status", How::set, "200"},
    {"sync.source_create", 201, "/status", How::set, "202"},
    {"auth.start", 201, "/status", How::set, "200"},
    {"tests.run_launch", 202, "/status", How::set, "201"},
    {"conversations.list", 422, "/status", How::set, "200"},
    // A member is missing.
    {"docs.create", 201, BODY "/content_revision", How::remove},
    {"docs.get", 200, BODY "/content", How::remove, "", true},
    {"docs.list", 200, BODY "/next_cursor", How::remove},
    {"comments.add", 201, BODY "/anchor", How::remove},
    {"comments.list", 200, BODY "/threads", How::remove},
    {"questions.create", 200, BODY "/conversation_id", How::remove},
    {"sync.plan", 200, BODY "/actions", How::remove},
    {"sync.commit", 200, BODY "/applied/0/document_id", How::remove},
    {"auth.start", 201, BODY "/interval", How::remove},
    {"me.get", 401, BODY "/code", How::remove},
    {"conversations.get", 200, BODY "/question_count", How::remove},
    // Null.
    {"docs.get", 200, BODY "/title", How::null, "", true},
    {"docs.update", 200, BODY "/updated_by", How::null},
    {"comments.reply", 201, BODY "/entries/0/body", How::null},
    {"sync.conflict_get", 200, BODY "/local", How::null},
    {"projects.create", 201, BODY "/node_id", How::null},
    {"sync.pull", 200, BODY "/data/0/path", How::null},
    // Another type.
    {"docs.create", 201, BODY "/content_revision", How::set, "\"1\"", true},
    {"comments.list", 200, BODY "/thread_count", How::set, "\"2\""},
    {"workspaces.list", 200, BODY "/data", How::set, "{}"},
    {"docs.get", 200, BODY "/links", How::set, "[]"},
    {"sync.source_get", 200, BODY "/revision", How::set, "1.5"},
    {"conversations.get", 200, BODY "/id", How::set, "\"c-1\""},
    {"comments.add", 201, BODY "/status", How::set, "\"new\""},
    {"docs.list", 422, BODY "/detail", How::set, "\"limit is wrong\""},
    // Another value: what was written is not what is read, words, counts.
    {"docs.update", 200, BODY "/content", How::set, "\"# Lost\"", true},
    {"docs.update", 200, BODY "/content_revision", How::set, "1"},
    {"docs.create", 201, BODY "/title", How::set, "\"cut\""},
    {"comments.set_status", 200, BODY "/status", How::set, "\"open\""},
    {"comments.list", 200, BODY "/thread_count", How::set, "7"},
    {"docs.archive", 200, BODY "/status", How::set, "\"deleted\""},
    {"sync.plan", 200, BODY "/actions/0/action", How::set, "\"pull_create\""},
    {"sync.conflict_resolve", 200, BODY "/status", How::set, "\"open\""},
    {"sync.commit", 200, BODY "/applied/0/content_sha256", How::set, "\"00\""},
    // Order, items, pages.
    {"comments.list", 200, BODY "/threads", How::reverse, "", true},
    {"docs.list", 200, BODY "/data", How::reverse},
    {"tests.cases_list", 200, BODY "/data", How::reverse},
    {"sync.pull", 200, BODY "/data", How::reverse},
    {"docs.list", 200, BODY "/data", How::twice, "", true},
    {"files.list", 200, BODY "/data", How::twice},
    {"comments.list", 200, BODY "/threads/0", How::remove},
    // Codes and headers.
    {"docs.get", 404, BODY "/code", How::set, "\"gone\"", true},
    {"docs.update", 409, BODY "/code", How::set, "\"stale\""},
    {"docs.list", 422, BODY "/detail/0/type", How::set, "\"value_error\""},
    {"docs.get", 200, "/response_headers/etag", How::remove},
};

/// Changes the first exchange that has the place; false: none has.
bool plant(const Planted& change, const Exchanges& plain, Exchanges& changed) {
  changed.clear();
  bool is_done = false;
  for (const mock::Exchange& one : plain) {
    Json line = to_json(one);
    const Json::json_pointer place(change.pointer);
    const bool fits =
        !is_done && one.operation == change.operation && one.status == change.status && line.contains(place);
    Json* value = fits ? &line[place] : nullptr;
    const bool is_list = change.how == How::reverse || change.how == How::twice;
    if (value != nullptr && (!is_list || value->size() > (change.how == How::reverse ? 1U : 0U))) {
      is_done = true;
      switch (change.how) {
        case How::set: *value = parse_bounded(change.value).value(); break;
        case How::null: *value = nullptr; break;
        case How::reverse: std::reverse(value->begin(), value->end()); break;
        case How::twice: value->push_back(value->front()); break;
        case How::remove: {
          Json& parent = line[place.parent_pointer()];
          if (parent.is_array()) {
            parent.erase(0);
          } else {
            parent.erase(place.back());
          }
          break;
        }
      }
    }
    changed.push_back(mock::read_recorded(dump(line)).value());
  }
  return is_done;
}

}  // namespace

TEST_CASE("diff: an unchanged service is alike, read only and with a Project of its own", "[compare]") {
  const MockProcess other({"--seed", "7"});
  for (const Access access : {Access::read_only, Access::scratch}) {
    const ScriptRun run = run_against(other, access);
    const DifferenceReport report = report_of(run.exchanges);
    CAPTURE(render_text(report));
    CHECK(run.stopped.empty());
    CHECK(run.left.empty());
    CHECK(run.requests <= 1500);
    CHECK_FALSE(differs(report));
  }
}

TEST_CASE("diff: a recording with quotes, mentions and results of an unchanged service is alike", "[compare]") {
  const MockProcess other({"--seed", "7"});
  auto caller = Caller::open({.base_url = other.base_url(), .token = other.token()});
  REQUIRE(caller);
  mock::Redactor redactor(mock::Redactor::Undescribed::hidden);
  Exchanges exchanges;
  const auto send = [&](const std::string& method, const std::string& target, const Json& body = nullptr) {
    auto answer = caller->send({.method = method, .target = target, .body = body.is_null() ? "" : dump(body)});
    REQUIRE(answer);
    exchanges.push_back(redactor.redact(*answer));
    return parse_bounded(answer->response_body).value();
  };
  const Json project = send("POST", "/v1/projects", {{"title", "P"}}).at("id");
  const Json draft = {{"title", "T"}, {"content", "alpha beta"}, {"project_id", project}};
  const std::string comments =
      "/v1/documents/" + send("POST", "/v1/documents", draft).at("id").get<std::string>() + "/comments";
  send("POST", comments, {{"body", "hi"}, {"selection", {{"quote", "beta"}}}});
  send("POST", comments, {{"body", "hi @scout"}});
  const Json event = send("POST", "/v1/agent-events:claim", {{"worker_id", "w"}}).at("event");
  send("POST",
       "/v1/agent-events/" + event.at("id").get<std::string>() + ":complete",
       {{"lease_token", event.at("lease_token")}, {"result", {{"text", "done"}}}});
  send("GET", "/v1/agents");
  const DifferenceReport report = report_of(exchanges);
  CAPTURE(render_text(report));
  CHECK_FALSE(differs(report));
}

TEST_CASE("diff: a service with other data is alike, though its ids are those of the built-in world", "[compare]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "world.yaml") << "people: [{email: o@x.com}, {email: e@x.com}]\n"
                                          "workspaces: [{name: W, members: [{person: o@x.com, role: owner},"
                                          " {person: e@x.com, role: editor}]}]\n"
                                          "projects: [{title: P, by: o@x.com}]\n"
                                          "documents: [{title: One, project: P, content: one},"
                                          " {title: Two, by: e@x.com, content: two}]\n";
  const MockProcess other({"--fixtures", (folder / "world.yaml").string()});
  const DifferenceReport report = report_of(run_against(other, Access::read_only).exchanges);
  CAPTURE(render_text(report));
  CHECK_FALSE(differs(report));
}

TEST_CASE("diff: a key that the service refuses is no comparison", "[compare]") {
  const MockProcess other({"--seed", "7"});
  const Ended ended = run_command({.arguments = {program("ws-mock"), "diff", "--against", other.base_url()},
                                   .environment = {{"WS_TOKEN", "wsk_" + std::string(43, 'x')}}});
  CHECK(ended.exit == 2);
  CHECK(ended.out.empty());
  CHECK_THAT(ended.err, Catch::Contains("refused the key"));
}

TEST_CASE("diff: reading alone changes nothing on the other side", "[compare]") {
  const MockProcess other;
  const auto tables = [&] {
    Json all = tables_of(other);
    all.erase("id_counters");  // results of a search are numbered
    return all;
  };
  const Json before = tables();
  run_against(other, Access::read_only);
  CHECK((tables() == before));
}

TEST_CASE("diff: in a Project that exists, what was there stays, and what was made is archived", "[compare]") {
  const MockProcess other;
  const Json before = tables_of(other);
  const auto project = before.at("projects").at(0).at("id").get<std::string>();
  const ScriptRun run = run_against(other, Access::project, project);
  const Json after = tables_of(other);
  CHECK(run.stopped.empty());
  CHECK(run.left.empty());
  CHECK((after.at("projects") == before.at("projects")));
  for (const char* const table : {"documents", "nodes", "agents", "keys", "assets"}) {
    CAPTURE(table);
    CHECK(rows_changed(before, after, table) == Json::array());
  }
  const Json made = rows_added(before, after, "documents");
  CHECK(made.size() > 5);
  for (const Json& one : made) CHECK(one.at("status") == "archived");
}

TEST_CASE("diff: Ctrl-C archives what was made, and tells where it stopped", "[compare]") {
  MockProcess other;
  const Json before = tables_of(other);
  const std::string rule = R"({"operation": "*", "effect": {"delay_ms": 10}})";
  const RawAnswer slow = other.ask({.method = "POST", .target = "/_mock/faults", .json = rule});
  REQUIRE(slow.status < 300);
  Running diff({.arguments = {program("ws-mock"), "diff", "--against", other.base_url(), "--scratch", "--yes"},
                .environment = {{"WS_TOKEN", other.token()}}});
  const auto made = [&] { return rows_added(before, tables_of(other), "documents"); };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (made().size() < 3 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  diff.signal(SIGINT);
  const Ended ended = diff.wait();
  INFO(ended.out + ended.err);
  CHECK(ended.exit == 2);
  CHECK_THAT(ended.out, Catch::Contains("Not complete"));
  REQUIRE(made().size() >= 3);
  for (const Json& one : made()) CHECK(one.at("status") == "archived");
}

TEST_CASE("diff: answers that are too large together end it with their bound, and take no more memory", "[compare]") {
  const MockProcess other;
  const std::string pad(std::size_t{4} << 20U, 'x');
  const HostileServer large([&](const Seen& seen) {
    const RawAnswer came = other.ask({.method = seen.method, .target = seen.target, .token = other.token()});
    auto body = parse_bounded(came.body);
    if (!body || !body->is_object()) return answer(came.status, came.body);
    (*body)["pad"] = pad;
    return answer(came.status, dump(*body));
  });
  const Ended ended = run_command({.arguments = {program("ws-mock"), "diff", "--against", large.origin()},
                                   .environment = {{"WS_TOKEN", other.token()}}});
  INFO(ended.out + ended.err);
  CHECK(ended.exit == 2);
  CHECK_THAT(ended.out, Catch::Contains("the answers have more than 32 MiB together"));
  CHECK(large.requests().size() < 20);
  CHECK(ended.peak_kib < 200'000);
}

TEST_CASE("diff: names the value of every switch of the other side", "[compare]") {
  const int seeds = is_whole() ? 20 : 3;
  for (int seed = 1; seed <= seeds; ++seed) {
    SeededRandom random(static_cast<std::uint64_t>(seed));
    std::vector<std::string> flags = {"--seed", std::to_string(seed)};
    std::map<std::string, std::string> chosen;
    for (const mock::AssumptionSwitch& one : mock::assumption_switches()) {
      const auto value = std::string(one.values[random.next() % one.values.size()]);
      chosen[std::string(one.key)] = value;
      flags.insert(flags.end(), {"--assume", std::string(one.key) + "=" + value});
    }
    const MockProcess other(flags);
    const ScriptRun run = run_against(other, Access::scratch);
    for (const SwitchValue& one : judge_switches(run.exchanges)) {
      CAPTURE(seed, one.key, one.shown_by, name(one.certainty));
      // It shows in `lease_expires_at`, which the other side leaves out, or sends as null, with these values.
      if (one.key == "renew_from" && chosen["assumed_fields"] != "full") {
        CHECK(one.value.empty());
        continue;
      }
      CHECK(one.value == chosen[std::string(one.key)]);
    }
    CHECK(run.left.empty());
  }
}

TEST_CASE("diff: finds planted changes of semantics", "[compare]") {
  static_assert(std::size(planted) == 60);
  const MockProcess other({"--seed", "7"});
  const ScriptRun run = run_against(other, Access::scratch);
  std::size_t found = 0;
  std::size_t tried = 0;
  std::string missed;
  for (const Planted& change : planted) {
    if (!is_whole() && !change.is_short) continue;
    ++tried;
    Exchanges changed;
    const std::string what = std::string(change.operation) + " " + change.pointer + " " + change.value + "\n";
    if (!plant(change, run.exchanges, changed)) {
      missed += "no such place: " + what;
      continue;
    }
    const DifferenceReport report = report_of(changed);
    if (report.findings.empty() && !differs(report)) missed += what;
    found += differs(report) ? 1U : 0U;
  }
  CAPTURE(missed);
  CHECK(found + 3 >= tried);
  if (!is_whole()) CHECK(found == tried);
}
