/// The command of `ws-mock exec`: it gets the signals that this process gets, and the server stops after it.
#pragma once

#include <atomic>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api-client/base/process.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/http/server/server.hpp"

namespace ws::mock {

/// HUP, INT, QUIT, TERM, USR1, USR2 and CHLD are blocked in this thread, and in those that it starts, while the object
/// lives; another thread takes them. One object at a time.
class Companion {
 public:
  /// `server` outlives it.
  explicit Companion(http::Server& server);
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  ~Companion();

  /// Fails as `Process::start`.
  Result<void> start(const std::vector<std::string>& command);
  /// Waits for the command; sends it SIGTERM if the server stopped before it. Returns its exit code.
  int wait();

 private:
  void pass_signals_on();

  http::Server& server_;
  sigset_t before_{};
  std::optional<Process> process_ = {};
  std::thread waiter_ = {};
  std::atomic<bool> has_ended_ = false;
  int exit_ = 0;
};

}  // namespace ws::mock
