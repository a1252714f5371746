/// Signals that end the program: the first one requests a stop, the second one ends the process.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <span>
#include <thread>

namespace ws::mock {

/// The signals are blocked in this thread, and in threads that it starts, during the object's lifetime; a separate
/// thread receives them, so that they are handled while a request is computed.
class StopOnSignal {
 public:
  /// `stop` is called once, from the other thread. After `patience`, or at a second signal, the process exits with 128
  /// + the signal's number; without `patience` it is never ended by force.
  StopOnSignal(std::span<const int> signals,
               std::function<void()> stop,
               std::optional<std::chrono::seconds> patience = std::nullopt);
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  ~StopOnSignal();

 private:
  void take();

  std::function<void()> stop_;
  std::optional<std::chrono::seconds> patience_;
  int last_ = 0;  // descriptor that wakes the thread when the object is destroyed
  sigset_t set_{};
  sigset_t before_{};
  std::atomic<bool> is_over_ = false;
  std::thread thread_ = {};
};

/// The signals that stop a server. Requests in progress get two seconds to complete; longer ones are aborted.
inline constexpr std::array server_signals{SIGINT, SIGTERM};
inline constexpr std::chrono::seconds server_patience{3};

}  // namespace ws::mock
