/// Runs the user's command with the event on its stdin and captures its output.
///
/// It has a process group of its own, so that Ctrl-C reaches it only through `ask_to_end`. Its streams are unlinked
/// temporary files, so it never blocks on a full pipe; it inherits no other file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/process.hpp"
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
  ChildProcess(ChildProcess&&) = default;
  ChildProcess& operator=(ChildProcess&&) = delete;
  /// Kills what still runs.
  ~ChildProcess();

  /// Empty while it runs; never waits. After an end: that end.
  std::optional<ChildEnd> poll();
  /// SIGTERM to it and its children; `kill` is SIGKILL.
  void ask_to_end() const;
  void kill() const;

 private:
  ChildProcess(const Process& process, Descriptor out, Descriptor err)
      : process_(process), out_(std::move(out)), err_(std::move(err)) {}

  Process process_;
  bool has_ended_ = false;
  Descriptor out_;
  Descriptor err_;
};

}  // namespace ws::cli
