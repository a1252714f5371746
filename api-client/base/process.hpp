/// Another program, started and waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "api-client/base/result.hpp"

namespace ws {

struct ProcessOptions {
  /// Its standard streams; -1: those of this process.
  int in = -1;
  int out = -1;
  int err = -1;
  /// Variables beside those of this process, or in their place.
  std::vector<std::pair<std::string, std::string>> environment = {};
  /// A process group of its own: Ctrl-C on the terminal does not reach it.
  bool own_group = false;
  /// Whether it inherits, of the files that are open here, its three streams alone.
  bool streams_only = false;
};

/// A program that was started. It runs on when this object goes.
class Process {
 public:
  /// Starts a program, found in PATH as a shell would find it. Signals that this process ignores or handles have their
  /// default action there, and none is blocked. Fails with `usage` where there is no such program (code
  /// `program_not_found`) or it cannot be executed (`program_not_executable`), with `internal`.
  static Result<Process> start(std::vector<std::string> command, const ProcessOptions& options = {});
  /// Runs a line of shell; `arguments` are its `$1`, `$2`...
  static Result<Process> start_shell(const std::string& line,
                                     const std::vector<std::string>& arguments,
                                     const ProcessOptions& options = {});
  /// Runs the program in place of this one. Returns errno, and only where that is not possible.
  static int replace_this(std::vector<std::string> command);

  /// Waits for its end: its exit code, or 128 + N where signal N ended it.
  int wait() const;
  /// The same without waiting; empty while it runs.
  std::optional<int> poll() const;
  /// To its process group where it has one of its own.
  void signal(int number) const;
  pid_t pid() const { return pid_; }

 private:
  Process(pid_t pid, bool own_group) : pid_(pid), own_group_(own_group) {}

  pid_t pid_;
  bool own_group_;
};

/// What a shell tells with its exit code of a program that could not be started.
inline constexpr int not_executable_exit = 126;
inline constexpr int not_found_exit = 127;

/// Bounds of a program that is run to its end.
struct RunLimits {
  std::chrono::milliseconds time{60'000};
  std::chrono::milliseconds grace{1'000};             ///< from SIGTERM to SIGKILL
  std::size_t output_bytes = std::size_t{64} << 10U;  ///< of each stream; the last ones are kept
  const std::atomic<bool>* stop = nullptr;            ///< looked at ten times a second; set: the program is ended
};

/// How a program ended, and what it printed.
struct RunEnd {
  enum class By { itself, limit, stop } by = By::itself;
  int exit = 0;  ///< its exit code, or 128 + N where signal N ended it
  bool is_signal = false;
  std::string out = {};
  std::string err = {};
  std::chrono::milliseconds took{0};
};

/// Runs a program to its end, in a process group of its own and without input; `in`, `out`, `err` and `own_group` of
/// the options are not looked at. What is left of its group when it has ended is killed. Fails as `Process::start`.
Result<RunEnd> run_process(std::vector<std::string> command, ProcessOptions options, const RunLimits& limits);

/// The file that the shell would run for this name; empty where there is none that may be run.
std::optional<std::string> find_program(const std::string& name);

}  // namespace ws
