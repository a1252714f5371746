#include <algorithm>
#include <set>
#include <span>

#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/utf8.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/paging.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/query.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {
namespace {

// Canned cases, suites and runs (catalog.json): nothing is executed.
//
// A run is `queued` for a second of the world's clock, then `running` while one case after the other ends, then
// `passed`. The switch `test_runs` at the launch decides otherwise: `finished` shows the end at once, and with
// `failing` the first case fails.

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
#define WS_TEST_RUN_COLUMNS                                                                                   \
  "sequence, id, workspace_id, selection_kind, suite_id, case_ids, status, results, created_at, started_at, " \
  "finished_at"

constexpr std::int64_t queued_ms = 1000;

const Json& catalog() {
  static const Json read = parse_bounded(
#include "catalog_text.inc"
                               )
                               .value();
  return read;
}

/// The item of `cases` or `suites` whose `member` is the id; null if there is none.
const Json* find_canned(const char* list, const char* member, std::string_view id) {
  const Json& items = catalog()[list];
  const auto found = std::ranges::find_if(items, [&](const Json& item) { return item[member] == id; });
  return found == items.end() ? nullptr : &*found;
}
const Json* find_case(std::string_view id) { return find_canned("cases", "case_id", id); }
const Json* find_suite(std::string_view id) { return find_canned("suites", "suite_id", id); }

/// Sets what the run comes to, and when.
void plan_run(const World& world, TestRun& run) {
  run.created_at = run.started_at = run.finished_at = world.now();
  const bool fails = world.assumptions.is("test_runs", "failing");
  Json results = Json::array();
  std::int64_t duration_ms = 0;
  for (const std::string& id : run.case_ids) {
    const bool failed = fails && results.empty();
    const std::int64_t took_ms = (*find_case(id))["cost_class"] == "free" ? 20 : 200;
    duration_ms += took_ms;
    results.push_back({{"case_id", id},
                       {"status", failed ? "failed" : "passed"},
                       {"message", failed ? Json("The assumption test_runs=failing is set") : Json(nullptr)},
                       {"duration_ms", took_ms}});
  }
  run.results = std::move(results);
  run.status = fails ? "failed" : "passed";
  if (world.assumptions.is("test_runs", "finished")) return;
  run.started_at += queued_ms;
  run.finished_at = run.started_at + duration_ms;
}

/// The run as a client sees it at the time `now`.
Json to_json(const TestRun& run, std::int64_t now) {
  const bool has_started = now >= run.started_at;
  const bool is_over = now >= run.finished_at;
  Json results = Json::array();
  std::int64_t failed = 0;
  std::int64_t ends_at = run.started_at;
  for (const Json& result : *run.results) {
    ends_at += integer_of(result, "duration_ms", 0);
    if (!is_over && now < ends_at) break;
    if (text_of(result, "status") == "failed") ++failed;
    results.push_back(result);
  }
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
          {"results", std::move(results)},
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

bool is_in(const Json& suite, const Json& case_id) {
  return std::ranges::find(suite["case_ids"], case_id) != suite["case_ids"].end();
}

/// A case of the catalog, with the suites that it is in.
Json shown_case(const Json& test) {
  Json shown = test;
  Json& suites = shown["suite_ids"] = Json::array();
  for (const Json& suite : catalog()["suites"]) {
    if (is_in(suite, test["case_id"])) suites.push_back(suite["suite_id"]);
  }
  return shown;
}

/// Whether each filter that is given matches the member of its name; `query` matches a part of any of `searched`.
bool is_wanted(const Json& item, const Json& filters, std::span<const char* const> searched) {
  for (const auto& [name, wanted] : filters.items()) {
    if (name == "query") {
      const auto has_it = [&](const char* member) { return holds(text_of(item, member), text_of(filters, "query")); };
      if (std::ranges::none_of(searched, has_it)) return false;
    } else if (name == "suite_id") {
      const Json* suite = find_suite(text_of(filters, "suite_id"));
      if (suite == nullptr || !is_in(*suite, item["case_id"])) return false;
    } else if (name != "limit" && name != "cursor" && item[name] != wanted) {
      return false;
    }
  }
  return true;
}

/// The list name for cursors, with the filters.
std::string list_name(const ServiceCall& call) {
  Json filters = call.parameters;
  for (const char* paging : {"limit", "cursor"}) filters.erase(paging);
  return std::string(call.operation.id) + canonical(filters);
}

/// One page of `cases` or `suites`: those that match the filters.
ServiceResult list_page(const ServiceCall& call,
                        const char* list,
                        std::span<const char* const> searched,
                        Json (*shown)(const Json& item)) {
  WS_API_LET(const std::int64_t begin, cursor_position(call, list_name(call), 0));
  const std::int64_t limit = integer_of(call.parameters, "limit", 50);
  const Json& items = catalog()[list];
  Json data = Json::array();
  Json next = nullptr;
  for (auto i = static_cast<std::size_t>(begin); i < items.size(); ++i) {
    if (!is_wanted(items[i], call.parameters, searched)) continue;
    if (static_cast<std::int64_t>(data.size()) == limit) {
      next = make_cursor(list_name(call), static_cast<std::int64_t>(i));
      break;
    }
    data.push_back(shown(items[i]));
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

/// 422 unless the call has what its `selection_kind` needs.
ApiResult<void> require_selection(const ServiceCall& call) {
  const bool is_suite = text_of(call.body, "selection_kind") == "suite";
  const char* const name = is_suite ? "suite_id" : "case_ids";
  const Json* given = find(call.body, name);
  if (given == nullptr || given->is_null() || *given == "") {
    return invalid("body", name, "missing", "Field required", call.body);
  }
  if (given->empty()) return invalid("body", name, "too_short", "List should have at least 1 item", *given);
  return {};
}

/// The cases to run, without duplicates, in the given order.
ApiResult<void> select_cases(const ServiceCall& call, TestRun& run) {
  if (run.selection_kind == "suite") {
    run.suite_id = text_of(call.body, "suite_id");
    const Json* suite = find_suite(run.suite_id);
    if (suite == nullptr) return not_found("test suite");
    if ((*suite)["runnable"] == false) {
      return invalid("body", "suite_id", "value_error", "The suite cannot be run: it takes a day", run.suite_id);
    }
    for (const Json& id : (*suite)["case_ids"]) run.case_ids.push_back(id.get<std::string>());
    return {};
  }
  for (const std::string& id : find_texts(call.body, "case_ids")) {
    if (find_case(id) == nullptr) return not_found("test case");
    if (std::ranges::find(run.case_ids, id) == run.case_ids.end()) run.case_ids.push_back(id);
  }
  return {};
}

// Newest first, of the Workspaces that the caller administers. ?1 person, ?2 before, ?3 only this Workspace, ?4 the
// Workspace of the key, ?5 whether the caller is an admin in it, ?6 status, ?7 selection, ?8 suite, ?9 case, ?10 limit,
// ?11 now.
constexpr const char* runs_query =
    "select " WS_TEST_RUN_COLUMNS
    " from test_runs r where sequence < ?2 and (?3 = '' or workspace_id = ?3) "
    "and exists (select 1 from members m where m.workspace_id = r.workspace_id and m.user_id = ?1 "
    "  and iif(m.workspace_id = ?4, ?5, ?5 is not null and m.role in ('owner', 'admin'))) "
    "and (?6 = '' or ?6 = iif(?11 >= finished_at, status, iif(?11 >= started_at, 'running', 'queued'))) "
    "and (?7 = '' or selection_kind = ?7) and (?8 = '' or suite_id = ?8) "
    "and (?9 = '' or exists (select 1 from json_each(case_ids) where value = ?9)) order by sequence desc limit ?10";

ServiceResult get_test_catalog(World& /*world*/, const ServiceCall& /*call*/) {
  const Json& cases = catalog()["cases"];
  const auto values_of = [&](const char* member) {
    std::set<std::string_view> values;
    for (const Json& test : cases) values.insert(text_of(test, member));
    return values;
  };
  return Answer{.body = Json{{"capabilities", values_of("capability")},
                             {"owners", values_of("owner")},
                             {"roles", values_of("role")},
                             {"cost_classes", values_of("cost_class")},
                             {"case_count", cases.size()},
                             {"suite_count", catalog()["suites"].size()}}};
}

ServiceResult list_test_cases(World& /*world*/, const ServiceCall& call) {
  static constexpr const char* searched[] = {"case_id", "title", "description"};
  return list_page(call, "cases", searched, shown_case);
}

ServiceResult get_test_case(World& /*world*/, const ServiceCall& call) {
  const Json* test = find_case(text_of(call.parameters, "case_id"));
  if (test == nullptr) return not_found("test case");
  return Answer{.body = shown_case(*test)};
}

ServiceResult list_test_suites(World& /*world*/, const ServiceCall& call) {
  static constexpr const char* searched[] = {"suite_id", "title"};
  return list_page(call, "suites", searched, [](const Json& suite) { return suite; });
}

ServiceResult get_test_suite(World& /*world*/, const ServiceCall& call) {
  const Json* suite = find_suite(text_of(call.parameters, "suite_id"));
  if (suite == nullptr) return not_found("test suite");
  return Answer{.body = *suite};
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
  const auto add = [&](const sqlite::Statement& row, Json& data) -> ApiResult<std::int64_t> {
    const auto run = read_as<TestRun>(row);
    data.push_back(to_json(run, world.now()));
    return run.sequence;
  };
  return read_page(*rows, list_name(call), limit, add);
}

ServiceResult launch_test_run(World& world, const ServiceCall& call) {
  WS_API_TRY(require_selection(call));
  TestRun run = {.workspace_id = id_of(call.body, "workspace_id"),
                 .selection_kind = std::string(text_of(call.body, "selection_kind"))};
  if (run.workspace_id.empty()) run.workspace_id = call.caller.workspace_id;
  WS_API_TRY(require_admin(world, call, run.workspace_id, "Workspace"));
  WS_API_TRY(select_cases(call, run));
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  run.id = world.ids.uuid("test_run");
  plan_run(world, run);
  WS_API_TRY(put_row(world,
                     "insert into test_runs (" WS_TEST_RUN_COLUMNS
                     ") values (nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                     run));
  WS_API_TRY(work.commit());
  return Answer{.status = 202,
                .body = to_json(run, world.now()),
                .headers = {{assumed_header, world.assumptions.assignment("test_runs")}}};
}

ServiceResult get_test_run(World& world, const ServiceCall& call) {
  WS_API_LET(const std::optional<TestRun> run,
             read_row(world,
                      read_as<TestRun>,
                      "select " WS_TEST_RUN_COLUMNS " from test_runs where id = ?",
                      id_of(call.parameters, "run_id")));
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
