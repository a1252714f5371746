/// A run of test cases: what it was asked for, and what came out.
///
/// It is over when the call that launched it answers: thirty cases take some tens of milliseconds, and a run that
/// waited for somebody to look at it would be no run. So `queued` and `running` are states that nobody sees here.
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
  std::string status = {};  ///< "passed", "failed"
  JsonBox results = {};     ///< as the API shows them
  std::int64_t created_at = 0;
  std::int64_t started_at = 0;
  std::int64_t finished_at = 0;
};
#define WS_TEST_RUN_COLUMNS                                                                                         \
  "r.sequence, r.id, r.workspace_id, r.selection_kind, r.suite_id, r.case_ids, r.status, r.results, r.created_at, " \
  "r.started_at, r.finished_at"

/// Runs the cases, one after the other, each in a fresh scratch world, and fills in status, results and times (those of
/// the world's clock: the same answer twice where it stands still).
Result<void> run_cases(World& world, TestRun& run);
Result<void> insert_test_run(World& world, const TestRun& run);
Result<TestRun> read_test_run(const sqlite::Statement& row);
Result<std::optional<TestRun>> find_test_run(World& world, std::string_view id);
Json to_json(const TestRun& run);

}  // namespace ws::mock
