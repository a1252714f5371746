/// The fault sweep: runs a command once for each fault that can apply to each of its requests, each time in a new
/// world, and finds problems that the exit code does not show in the worlds and their journals.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/sweep/local_server.hpp"
#include "server-mock/sweep/oracles.hpp"
#include "server-mock/sweep/plan.hpp"

namespace ws::mock::sweep {

enum class Rerun { no, yes };

struct SweepOptions {
  std::vector<std::string> command = {};
  /// The flags that define the world and the faults ("--fixtures", "world.yaml"), needed to replay a row.
  std::vector<std::string> flags = {};
  PlanOptions plan = {};
  std::size_t jobs = 1;
  /// Per run; never less than ten times the clean run, and longer on a machine that has become slower since.
  std::chrono::milliseconds limit{10'000};
  Rerun rerun = Rerun::yes;
  std::string trace_pattern = {};
  std::size_t max_sends = 10;
  std::size_t max_requests = 0;  ///< 0: five times the clean run's
  std::string says = {};
  std::string output = {};                  ///< a folder that the command writes, below its own
  const std::atomic<bool>* stop = nullptr;  ///< when set, running commands are terminated and the sweep ends
};

/// The result of one row.
struct RowResult {
  Row row = {};
  enum class Verdict {
    passed,     ///< the command exited with 0 and left the same state as the clean run
    recovered,  ///< it failed, and running it again reached that state
    found,
  } verdict = Verdict::passed;
  std::vector<Finding> findings = {};
  RunEnd end = {};
  std::optional<int> rerun_exit = {};
  bool met_limit = false;                 ///< the run or the rerun was stopped at its time limit
  std::vector<std::string> journal = {};  ///< one line for each request of the run and of the rerun
  std::vector<SentRequest> sent = {};
};

struct Report {
  std::vector<std::string> command = {};
  std::vector<std::string> flags = {};  ///< as in the options
  Plan plan = {};
  Run clean = {};
  std::vector<Finding> clean_findings = {};
  std::vector<RowResult> rows = {};  ///< in the order of the plan; fewer if the sweep was stopped
  std::chrono::milliseconds took{0};
  std::chrono::milliseconds command_time{0};  ///< the time of the command itself, summed over all runs
  bool was_stopped = false;
  std::string date = {};  ///< of the sweep
};

/// Called after each row, one call at a time: rows done, all rows, rows with findings so far.
using Progress = std::function<void(std::size_t done, std::size_t all, std::size_t found)>;

class Sweep {
 public:
  Sweep(LocalServer& host, const SweepOptions& options) : host_(host), options_(options) {}

  /// Runs the command twice without faults and makes the plan. Fails with `invalid` if the command fails (with its
  /// output in the message), as `Process::start`, or with `cancelled`.
  Result<void> prepare();
  /// Keeps only the rows of requests that an earlier report (`to_json`) does not have. Fails with `invalid`.
  Result<void> keep_changed(const Json& earlier);
  const Plan& plan() const { return report_.plan; }
  const Run& clean() const { return reference_.clean; }

  /// Runs all rows. Fails with `internal` or `disk`.
  Result<Report> run(const Progress& progress);
  /// Runs one row and keeps its world open. Fails with `usage` if there is no such row.
  Result<RowResult> replay(const std::string& id, World& world);

 private:
  struct Scratch;
  Result<Run> run_command(const World& world,
                          const std::string& token,
                          const Scratch& scratch,
                          const Row& row,
                          std::uint64_t since,
                          std::chrono::milliseconds limit);
  Result<RowResult> run_row(const Row& row, const World& world, double slower);
  /// Runs the row in a world of its own, which stays open. Its limit is time on the wall, and the machine may be busier
  /// than it was for the clean runs: a run that met the limit is made again, in a new world, under a limit that is as
  /// much longer as the command now takes longer without a fault.
  Result<RowResult> run_confirmed(const Row& row, World& world);
  /// How many times longer the command takes now, without a fault, than it took in the clean run; at least 1.
  Result<double> slowdown();
  Result<RowResult> run_alone(const Row& row);
  /// Runs the rows in parallel; a result is empty if the sweep was stopped before the row ended.
  Result<std::vector<std::optional<RowResult>>> run_rows(const Progress& progress);
  Result<void> prepare_fault(const Row& row, const World& world);
  Result<std::string> remove_fault(const Row& row, const World& world);
  std::chrono::milliseconds limit_of(const Row& row) const;
  /// Of a run without faults, whose duration on this machine is not known.
  std::chrono::milliseconds first_limit() const;

  LocalServer& host_;
  SweepOptions options_;
  Reference reference_ = {};
  Report report_ = {};
};

}  // namespace ws::mock::sweep
