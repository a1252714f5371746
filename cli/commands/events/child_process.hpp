/// A command of the user's, run with a text on its stdin; what it prints is kept until it ends.
///
/// It has a process group of its own, so that Ctrl-C reaches it only through `ask_to_end`. Its streams are files
/// without a name, so it never waits for a reader; it inherits no other file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "api-client/base/result.hpp"

namespace ws::cli {

/// How a command ended: its exit code, 128 + N where signal N ended it.
struct ChildEnd {
  int exit = 0;
  std::string out = {};  ///< all of it, up to the bound
  std::string err = {};  ///< the end of it
};

class ChildProcess {
 public:
  /// `environment`: variables beside those of this process. Fails with `usage` where there is no such program, with
  /// `disk`.
  static Result<ChildProcess> start(const std::vector<std::string>& command,
                                    const std::string& input,
                                    const std::vector<std::pair<std::string, std::string>>& environment);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  /// Kills what still runs.
  ~ChildProcess();

  /// Empty while it runs; never waits. After an end: that end.
  std::optional<ChildEnd> poll();
  /// SIGTERM to it and its children; `kill` is SIGKILL.
  void ask_to_end() const;
  void kill() const;

 private:
  ChildProcess(pid_t pid, int out, int err) : pid_(pid), out_(out), err_(err) {}
  void close_all();

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

/// Whether the program can be found, as the shell would.
bool is_program(const std::string& name);

}  // namespace ws::cli
