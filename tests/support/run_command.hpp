/// Runs a program with arguments, environment and standard input, and captures its output.
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
  std::string input = {};                               ///< standard input; empty: at end of file
  std::filesystem::path folder = {};                    ///< working directory; empty: that of the test
  std::chrono::milliseconds timeout{60'000};            ///< after it the program is killed, and `exit` is -1
  int signal_after_output = 0;                          ///< sent once it has written something to stderr; 0: none
};

struct Ended {
  int exit = -1;  ///< the exit code; 128 + N if it was killed by signal N; -1 after the timeout
  std::string out = {};
  std::string err = {};
  long peak_kib = 0;       ///< peak memory use
  double processor_s = 0;  ///< user and system time
};

using Outcome = Ended;

/// A running program. It is killed when the object is destroyed.
class Running {
 public:
  explicit Running(const Command& command);
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Waits until standard output plus standard error contain `text`; false after the timeout or the program's end.
  bool wait_for(const std::string& text);
  /// The same, until it has written anything to standard error.
  bool wait_for_errors();
  /// What it has printed so far.
  const Ended& so_far() const { return ended_; }
  /// Waits for the program to exit.
  Ended wait();

 private:
  /// Reads what arrives within `at_most`; returns false when both streams are closed.
  bool pump(std::chrono::milliseconds at_most);

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::chrono::steady_clock::time_point deadline_;
  Ended ended_;
};

/// Runs a program to completion.
Ended run_command(const Command& command);

/// The path of one of our programs: in WS_BIN_DIR from the environment, otherwise in the folder of this build.
std::string program(const std::string& name);

}  // namespace ws::test
