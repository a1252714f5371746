#include "server-mock/services/tests/test_run.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "server-mock/services/shared/resources.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {

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

}  // namespace ws::mock
