/// Starts child processes and waits for them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "api-client/base/result.hpp"

namespace ws {

struct ProcessOptions {
  /// Descriptors for its standard streams; -1: inherit ours.
  int in = -1;
  int out = -1;
  int err = -1;
  /// Environment variables to add or override.
  std::vector<std::pair<std::string, std::string>> environment = {};
  /// Environment variables that the child does not get.
  std::span<const std::string_view> without = {};
  /// Start it in its own process group, so that Ctrl-C on the terminal does not reach it.
  bool own_group = false;
  /// Close all descriptors in the child except its three standard streams.
  bool streams_only = false;
};

/// A running child process. Destroying this object does not stop the process.
class Process {
 public:
  /// Starts a program, found in PATH as a shell finds it. Signals that this process ignores or handles are reset to
  /// their default action in the child, and none is blocked. Fails with `usage` if there is no such program (code
  /// `program_not_found`) or it cannot be executed (`program_not_executable`), otherwise with `internal`.
  static Result<Process> start(std::vector<std::string> command, const ProcessOptions& options = {});
  /// Runs a shell command line; `arguments` are its `$1`, `$2`...
  static Result<Process> start_shell(const std::string& line,
                                     const std::vector<std::string>& arguments,
                                     const ProcessOptions& options = {});
  /// Replaces this process with the program (exec). Returns errno, and only on failure.
  static int replace_this(std::vector<std::string> command);

  /// Waits for the child to exit. Returns its exit code, or 128 + N if it was killed by signal N.
  int wait() const;
  /// As `wait`, without blocking; empty while the child is running.
  std::optional<int> poll() const;
  /// Sends a signal, to its process group if it has its own.
  void signal(int number) const;
  pid_t pid() const { return pid_; }

 private:
  Process(pid_t pid, bool own_group) : pid_(pid), own_group_(own_group) {}

  pid_t pid_;
  bool own_group_;
};

/// The exit codes that shells use for a program that could not be started.
inline constexpr int not_executable_exit = 126;
inline constexpr int not_found_exit = 127;

/// Limits for a program that is run to completion.
struct RunLimits {
  std::chrono::milliseconds time{60'000};
  std::chrono::milliseconds grace{1'000};             ///< between SIGTERM and SIGKILL
  std::size_t output_bytes = std::size_t{64} << 10U;  ///< per stream; the last bytes are kept
  const std::atomic<bool>* stop = nullptr;  ///< checked ten times a second; when set, the program is terminated
};

/// The exit status and the output of a program.
struct RunEnd {
  enum class By { itself, limit, stop } by = By::itself;
  int exit = 0;  ///< the exit code, or 128 + N if it was killed by signal N
  bool is_signal = false;
  std::string out = {};
  std::string err = {};
  std::chrono::milliseconds took{0};
};

/// Runs a program to completion in its own process group and without input; `in`, `out`, `err` and `own_group` of the
/// options are ignored. Processes of the group that are still running afterwards are killed. Fails as `Process::start`.
Result<RunEnd> run_process(std::vector<std::string> command, ProcessOptions options, const RunLimits& limits);

/// The path that the shell would run for this name; empty if there is no such executable.
std::optional<std::string> find_program(const std::string& name);

}  // namespace ws
