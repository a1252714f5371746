/// The command of `ws-mock exec`: signals are forwarded to it, and the server stops when it ends.
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

/// HUP, INT, QUIT, TERM, USR1, USR2 and CHLD are blocked in this thread, and in threads that it starts, during the
/// object's lifetime; a separate thread receives them. Only one object may exist at a time.
class ChildProcess {
 public:
  /// `server` must outlive it.
  explicit ChildProcess(http::Server& server);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  /// Fails as `Process::start`.
  Result<void> start(const std::vector<std::string>& command);
  /// Waits for the command; if the server stops first, sends it SIGTERM. Returns its exit code.
  int wait();

 private:
  void forward_signals();

  http::Server& server_;
  sigset_t before_{};
  std::optional<Process> process_ = {};
  std::thread waiter_ = {};
  std::atomic<bool> has_ended_ = false;
  int exit_ = 0;
};

}  // namespace ws::mock
