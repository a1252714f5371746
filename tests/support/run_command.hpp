/// Runs a program as a person or a script would: arguments, environment, standard input; takes what it printed.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace ws::test {

struct Command {
  std::filesystem::path program = {};  ///< empty: the first of `arguments`, a path or a name looked up in PATH
  std::vector<std::string> arguments = {};
  std::map<std::string, std::string> environment = {};  ///< instead of the parent's; PATH and HOME are added if missing
  std::string input = {};                               ///< standard input; empty: at its end from the start
  std::filesystem::path folder = {};                    ///< run in it; empty: where the test runs
  std::chrono::milliseconds timeout{60'000};            ///< then it is killed, and `exit` is -1
  int signal_after_output = 0;                          ///< sent once it wrote something on stderr; 0: none
};

struct Ended {
  int exit = -1;  ///< the exit code; 128 + N when signal N ended it; -1 after the timeout
  std::string out = {};
  std::string err = {};
  long peak_kib = 0;       ///< the most memory that it held at a time
  double processor_s = 0;  ///< of its own work and the kernel's for it
};

using Outcome = Ended;

/// A program under way. Killed when it goes out of scope.
class Running {
 public:
  explicit Running(const Command& command);
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Waits until standard output plus standard error hold `text`; false after the timeout or when the program ended.
  bool wait_for(const std::string& text);
  /// The same, until it has written anything on standard error.
  bool wait_for_errors();
  /// What it has printed so far.
  const Ended& so_far() const { return ended_; }
  /// Waits for its end.
  Ended wait();

 private:
  /// Takes what can be read within `at_most`; false when both streams are at their end.
  bool pump(std::chrono::milliseconds at_most);

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::chrono::steady_clock::time_point deadline_;
  Ended ended_;
};

/// From start to end.
Ended run_command(const Command& command);

/// A program of ours: WS_BIN_DIR from the environment, else the folder of this build.
std::string program(const std::string& name);

}  // namespace ws::test
