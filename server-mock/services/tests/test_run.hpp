/// Runs test cases and stores the results.
///
/// The cases run within the call that launches the run (thirty of them take some tens of milliseconds). What is shown
/// follows the switch `test_runs` at the launch: `finished` shows the end at once; with `timed` the run is `queued` for
/// a second of the world's clock, then `running` for another, before it ends; `failing` is the same with a failed case.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/tests/catalog.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

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
inline constexpr std::int64_t test_run_phase_ms = 1000;

/// Runs the cases in order, each in a fresh scratch world, and sets status, results and times (by the world's clock, so
/// a frozen clock gives the same answer twice).
Result<void> run_cases(World& world, TestRun& run);
Result<void> insert_test_run(World& world, const TestRun& run);
Result<TestRun> read_test_run(const sqlite::Statement& row);
Result<std::optional<TestRun>> find_test_run(World& world, std::string_view id);
/// The run as a client sees it at the time `now`.
Json to_json(const TestRun& run, std::int64_t now);

}  // namespace ws::mock
