/// `ws-mock sweep [flags] -- CMD...`: flags, execution and exit codes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/application/application.hpp"

namespace CLI {
class App;
}

namespace ws::mock {

struct SweepFlags {
  bool plan = false;
  std::size_t jobs = 0;  ///< 0: as many as processors
  std::string limit = "10s";
  std::string patience = "10s";
  bool json = false;
  std::string junit = {};
  std::string html = {};
  std::string replay = {};
  std::string accept = {};
  std::vector<std::string> only = {};
  std::vector<std::string> skip = {};
  std::vector<std::string> operations = {};
  std::size_t max_rows = 0;
  std::size_t sample = 0;
  std::string trace_pattern = {};
  std::size_t max_sends = 10;
  std::size_t max_requests = 0;  ///< 0: five times the clean run's
  std::string says = {};
  std::string output = {};
  std::string since = {};
  bool rerun = true;
  std::vector<std::string> replayed = {};  ///< see `replayed_flags`
};

/// The flags of the subcommand `sweep`.
void add_sweep_flags(CLI::App& sweep, SweepFlags& flags);

/// The words before `--` that are needed to replay a row: not those that narrow the plan or name the report.
std::vector<std::string> replayed_flags(const std::vector<std::string>& words);

/// Exit code: 0 no findings, 1 findings, 3 stopped. Fails with `usage` or `invalid` (the clean run failed), which exit
/// with 2, and as `LocalServer::start`.
Result<int> run_sweep(const SweepFlags& flags, const std::vector<std::string>& command, ApplicationOptions options);

}  // namespace ws::mock
