#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/paging.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/services/tests/catalog.hpp"
#include "server-mock/store/query.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {
namespace {

// Runs test cases and stores the results.
//
// The cases run within the call that launches the run (thirty of them take some tens of milliseconds). What is shown
// follows the switch `test_runs` at the launch: `finished` shows the end at once; with `timed` the run is `queued` for
// a second of the world's clock, then `running` for another, before it ends; `failing` is the same with a failed case.

struct TestRun {
  std::int64_t sequence = 0;
  std::string id = {};
  std::string workspace_id = {};
  std::string selection_kind = {};  ///< "cases", "suite"
  std::string suite_id = {};        ///< empty with `cases`
  std::vector<std::string> case_ids = {};
  std::string status = {};  ///< the final status: "passed", "failed"
  JsonBox results = {};     ///< as in the API
  std::int64_t created_at = 0;
  std::int64_t started_at = 0;
  std::int64_t finished_at = 0;
};
#define WS_TEST_RUN_COLUMNS                                                                                         \
  "r.sequence, r.id, r.workspace_id, r.selection_kind, r.suite_id, r.case_ids, r.status, r.results, r.created_at, " \
  "r.started_at, r.finished_at"

/// How long a run under the switch `timed` is queued, and then running.
constexpr std::int64_t test_run_phase_ms = 1000;

/// Runs the cases in order, each in a fresh scratch world, and sets status, results and times (by the world's clock, so
/// a frozen clock gives the same answer twice).
Result<void> run_cases(World& world, TestRun& run) {
  run.created_at = run.started_at = world.now();
  WS_LET(const std::unique_ptr<ScratchWorld> scratch, ScratchWorld::open(world.clock->now()));
  Json results = Json::array();
  bool passed = true;
  for (const std::string& id : run.case_ids) {
    const std::int64_t begin = world.now();
    WS_TRY(scratch->restart());
    find_case(id)->check(*scratch);
    const bool failed = !scratch->failure().empty();
    passed = passed && !failed;
    results.push_back({{"case_id", id},
                       {"status", failed ? "failed" : "passed"},
                       {"message", text_or_null(scratch->failure())},
                       {"duration_ms", world.now() - begin}});
  }
  run.results = std::move(results);
  run.status = passed ? "passed" : "failed";
  run.finished_at = world.now();
  if (world.assumptions.is("test_runs", "finished")) return {};
  run.started_at = run.created_at + test_run_phase_ms;
  run.finished_at = run.started_at + test_run_phase_ms;
  if (world.assumptions.is("test_runs", "failing")) {
    Json& first = run.results->front();
    first["status"] = "failed";
    first["message"] = "The switch test_runs=failing says so";
    run.status = "failed";
  }
  return {};
}

Result<void> insert_test_run(World& world, const TestRun& run) {
  return put(world,
             "insert into test_runs (id, workspace_id, selection_kind, suite_id, case_ids, status, "
             "results, created_at, started_at, finished_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             run.id,
             run.workspace_id,
             run.selection_kind,
             run.suite_id,
             dump(Json(run.case_ids)),
             run.status,
             dump(*run.results),
             run.created_at,
             run.started_at,
             run.finished_at);
}

Result<TestRun> read_test_run(const sqlite::Statement& row) {
  TestRun run = {.sequence = row.integer(0),
                 .id = row.string(1),
                 .workspace_id = row.string(2),
                 .selection_kind = row.string(3),
                 .suite_id = row.string(4),
                 .status = row.string(6),
                 .created_at = row.integer(8),
                 .started_at = row.integer(9),
                 .finished_at = row.integer(10)};
  WS_LET(const Json ids, parse_bounded(row.text(5)));
  for (const Json& id : ids) run.case_ids.push_back(id.get<std::string>());
  WS_LET(Json results, parse_bounded(row.text(7)));
  run.results = std::move(results);
  return run;
}

Result<std::optional<TestRun>> find_test_run(World& world, std::string_view id) {
  WS_LET(const sqlite::CachedStatement row,
         world.database.cached("select " WS_TEST_RUN_COLUMNS " from test_runs r where r.id = ?"));
  row->bind(1, id);
  WS_LET(const bool found, row->step());
  if (!found) return std::optional<TestRun>();
  WS_LET(TestRun run, read_test_run(*row));
  return std::optional(std::move(run));
}

/// The run as a client sees it at the time `now`.
Json to_json(const TestRun& run, std::int64_t now) {
  const bool has_started = now >= run.started_at;
  const bool is_over = now >= run.finished_at;
  const Json results = is_over ? *run.results : Json::array();
  const auto failed = std::ranges::count_if(results, [](const Json& result) { return result["status"] == "failed"; });
  const auto total = static_cast<std::int64_t>(run.case_ids.size());
  const auto passed = static_cast<std::int64_t>(results.size()) - failed;
  return {{"id", run.id},
          {"object", "test_run"},
          {"status",
           is_over       ? run.status
           : has_started ? "running"
                         : "queued"},
          {"selection_kind", run.selection_kind},
          {"case_ids", run.case_ids},
          {"suite_id", text_or_null(run.suite_id)},
          {"workspace_id", run.workspace_id},
          {"counts", {{"total", total}, {"passed", passed}, {"failed", failed}}},
          {"results", results},
          {"created_at", rfc3339(run.created_at)},
          {"started_at", has_started ? Json(rfc3339(run.started_at)) : Json(nullptr)},
          {"finished_at", is_over ? Json(rfc3339(run.finished_at)) : Json(nullptr)},
          {"links", {{"self", "/v1/admin/tests/runs/" + run.id}}}};
}

using contract::Role;

// Role and audience are already checked when a service is called. It still has to check the Workspace that a run
// belongs to.

/// Whether the text contains the query, compared without case; an empty query matches.
bool holds(std::string_view text, std::string_view wanted) {
  return wanted.empty() || utf8::fold_key(text).find(utf8::fold_key(wanted)) != std::string::npos;
}

bool is_or_any(std::string_view value, std::string_view wanted) { return wanted.empty() || value == wanted; }

bool is_in(const TestSuite& suite, std::string_view case_id) {
  return std::ranges::find(suite.case_ids, case_id) != suite.case_ids.end();
}

Json to_json(const TestCase& test) {
  Json suites = Json::array();
  for (const TestSuite& suite : test_suites()) {
    if (is_in(suite, test.id)) suites.push_back(suite.id);
  }
  return {{"case_id", test.id},
          {"title", test.title},
          {"description", test.description},
          {"capability", test.capability},
          {"owner", test.owner},
          {"role", test.role},
          {"cost_class", test.cost_class},
          {"suite_ids", std::move(suites)}};
}

Json to_json(const TestSuite& suite) {
  Json cases = Json::array();
  for (const std::string_view id : suite.case_ids) cases.push_back(id);
  return {{"suite_id", suite.id},
          {"title", suite.title},
          {"runnable", suite.not_runnable_because.empty()},
          {"case_ids", std::move(cases)}};
}

bool is_wanted(const TestCase& test, const Json& filters) {
  const std::string_view suite_id = text_of(filters, "suite_id");
  const TestSuite* suite = find_suite(suite_id);
  const std::string_view query = text_of(filters, "query");
  return (suite_id.empty() || (suite != nullptr && is_in(*suite, test.id))) &&
         is_or_any(test.capability, text_of(filters, "capability")) &&
         is_or_any(test.owner, text_of(filters, "owner")) && is_or_any(test.role, text_of(filters, "role")) &&
         is_or_any(test.cost_class, text_of(filters, "cost_class")) &&
         (holds(test.id, query) || holds(test.title, query) || holds(test.description, query));
}

bool is_wanted(const TestSuite& suite, const Json& filters) {
  const std::string_view query = text_of(filters, "query");
  const std::optional<bool> runnable = find_bool(filters, "runnable");
  return (!runnable || *runnable == suite.not_runnable_because.empty()) &&
         (holds(suite.id, query) || holds(suite.title, query));
}

/// The list name for cursors, with the filters.
std::string list_name(const ServiceCall& call) {
  Json filters = call.parameters;
  for (const char* paging : {"limit", "cursor"}) filters.erase(paging);
  return std::string(call.operation.id) + canonical(filters);
}

/// One page of constant data: those of `at(i)`, i below `count`, that match the filters.
template <class At>
ServiceResult list_page(const ServiceCall& call, std::size_t count, const At& at) {
  WS_API_LET(const std::int64_t begin, cursor_position(call, list_name(call), 0));
  const std::int64_t limit = integer_of(call.parameters, "limit", 50);
  Json data = Json::array();
  Json next = nullptr;
  for (auto i = static_cast<std::size_t>(begin); i < count; ++i) {
    if (!is_wanted(at(i), call.parameters)) continue;
    if (static_cast<std::int64_t>(data.size()) == limit) {
      next = make_cursor(list_name(call), static_cast<std::int64_t>(i));
      break;
    }
    data.push_back(to_json(at(i)));
  }
  return Answer{.body = Json{{"data", std::move(data)}, {"next_cursor", std::move(next)}}};
}

/// 404 unless the caller is an admin of the run's Workspace.
ApiResult<void> require_admin(World& world,
                              const ServiceCall& call,
                              std::string_view workspace_id,
                              std::string_view what) {
  WS_API_LET(const Role role, role_in(world, call.caller, workspace_id));
  if (role == Role::none) return not_found(what);
  return require_role(call, role);
}

/// The cases to run, without duplicates, in the given order.
ApiResult<void> select_cases(const ServiceCall& call, TestRun& run) {
  if (run.selection_kind == "suite") {
    run.suite_id = text_of(call.body, "suite_id");
    if (run.suite_id.empty()) return invalid("body", "suite_id", "missing", "Field required", call.body);
    const TestSuite* suite = find_suite(run.suite_id);
    if (suite == nullptr) return not_found("test suite");
    if (!suite->not_runnable_because.empty()) {
      return invalid("body",
                     "suite_id",
                     "value_error",
                     "The suite cannot be run: " + std::string(suite->not_runnable_because),
                     run.suite_id);
    }
    for (const std::string_view id : suite->case_ids) run.case_ids.emplace_back(id);
    return {};
  }
  const Json* ids = find(call.body, "case_ids");
  if (ids == nullptr || !ids->is_array()) {
    return invalid("body", "case_ids", "missing", "Field required", call.body);
  }
  if (ids->empty()) return invalid("body", "case_ids", "too_short", "List should have at least 1 item", *ids);
  for (const Json& id : *ids) {
    const std::string& text = id.get_ref<const std::string&>();
    if (find_case(text) == nullptr) return not_found("test case");
    if (std::ranges::find(run.case_ids, text) == run.case_ids.end()) run.case_ids.push_back(text);
  }
  return {};
}

// Newest first, of the Workspaces that the caller administers. ?1 person, ?2 before, ?3 only this Workspace, ?4 the
// Workspace of the key, ?5 whether the caller is an admin in it, ?6 status, ?7 selection, ?8 suite, ?9 case, ?10 limit,
// ?11 now.
constexpr const char* runs_query =
    "select " WS_TEST_RUN_COLUMNS
    " from test_runs r cross join members m on m.workspace_id = r.workspace_id and m.user_id = ?1 "
    "where r.sequence < ?2 and (?3 = '' or r.workspace_id = ?3) "
    "and iif(r.workspace_id = ?4, ?5, ?5 is not null and m.role in ('owner', 'admin')) and (?6 = '' or ?6 = iif(?11 >= "
    "r.finished_at, r.status, iif(?11 >= r.started_at, 'running', 'queued'))) "
    "and (?7 = '' or r.selection_kind = ?7) and (?8 = '' or r.suite_id = ?8) "
    "and (?9 = '' or exists (select 1 from json_each(r.case_ids) where value = ?9)) order by r.sequence desc limit ?10";

ServiceResult get_test_catalog(World& /*world*/, const ServiceCall& /*call*/) {
  std::set<std::string_view> capabilities;
  std::set<std::string_view> owners;
  std::set<std::string_view> roles;
  std::set<std::string_view> costs;
  for (std::size_t i = 0; i < case_count(); ++i) {
    const TestCase& test = case_at(i);
    capabilities.insert(test.capability);
    owners.insert(test.owner);
    roles.insert(test.role);
    costs.insert(test.cost_class);
  }
  return Answer{.body = Json{{"capabilities", capabilities},
                             {"owners", owners},
                             {"roles", roles},
                             {"cost_classes", costs},
                             {"case_count", case_count()},
                             {"suite_count", test_suites().size()}}};
}

ServiceResult list_test_cases(World& /*world*/, const ServiceCall& call) {
  return list_page(call, case_count(), case_at);
}

ServiceResult get_test_case(World& /*world*/, const ServiceCall& call) {
  const TestCase* test = find_case(text_of(call.parameters, "case_id"));
  if (test == nullptr) return not_found("test case");
  return Answer{.body = to_json(*test)};
}

ServiceResult list_test_suites(World& /*world*/, const ServiceCall& call) {
  return list_page(call, test_suites().size(), [](std::size_t i) -> const TestSuite& { return test_suites()[i]; });
}

ServiceResult get_test_suite(World& /*world*/, const ServiceCall& call) {
  const TestSuite* suite = find_suite(text_of(call.parameters, "suite_id"));
  if (suite == nullptr) return not_found("test suite");
  return Answer{.body = to_json(*suite)};
}

ServiceResult list_test_runs(World& world, const ServiceCall& call) {
  WS_API_LET(const std::int64_t before, cursor_position(call, list_name(call), from_newest));
  const std::int64_t limit = integer_of(call.parameters, "limit", 50);
  const Caller& caller = call.caller;
  WS_API_LET(const sqlite::CachedStatement rows, world.database.cached(runs_query));
  rows->bind_all(caller.owner_user_id,
                 before,
                 bound_workspace(caller),
                 caller.workspace_id,
                 bound_admin_flag(caller),
                 text_of(call.parameters, "status"),
                 text_of(call.parameters, "selection_kind"),
                 text_of(call.parameters, "suite_id"),
                 text_of(call.parameters, "case_id"),
                 limit + 1,
                 world.now());
  const auto add = [&](const sqlite::Statement& row, Json& data) -> Result<std::int64_t> {
    WS_LET(const TestRun run, read_test_run(row));
    data.push_back(to_json(run, world.now()));
    return run.sequence;
  };
  return read_page(*rows, list_name(call), limit, add);
}

ServiceResult launch_test_run(World& world, const ServiceCall& call) {
  TestRun run = {.workspace_id = id_of(call.body, "workspace_id"),
                 .selection_kind = std::string(text_of(call.body, "selection_kind"))};
  if (run.workspace_id.empty()) run.workspace_id = call.caller.workspace_id;
  WS_API_TRY(require_admin(world, call, run.workspace_id, "Workspace"));
  WS_API_TRY(select_cases(call, run));
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  run.id = world.ids.uuid("test_run");
  WS_API_TRY(run_cases(world, run));
  WS_API_TRY(insert_test_run(world, run));
  WS_API_TRY(work.commit());
  return Answer{.status = 202,
                .body = to_json(run, world.now()),
                .headers = {{assumed_header, world.assumptions.assignment("test_runs")}}};
}

ServiceResult get_test_run(World& world, const ServiceCall& call) {
  WS_API_LET(const std::optional<TestRun> run, find_test_run(world, id_of(call.parameters, "run_id")));
  if (!run) return not_found("test run");
  WS_API_TRY(require_admin(world, call, run->workspace_id, "test run"));
  return Answer{.body = to_json(*run, world.now())};
}

}  // namespace

ServiceTable test_services() {
  static constexpr ServiceEntry entries[] = {
      {"tests.catalog", get_test_catalog},
      {"tests.cases_list", list_test_cases},
      {"tests.case_get", get_test_case},
      {"tests.suites_list", list_test_suites},
      {"tests.suite_get", get_test_suite},
      {"tests.runs_list", list_test_runs},
      {"tests.run_launch", launch_test_run},
      {"tests.run_get", get_test_run},
  };
  return entries;
}

}  // namespace ws::mock
