/// Signals that end the program: the first one asks it to stop.
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

/// The signals are blocked in this thread, and in those that it starts, while the object lives; another thread takes
/// them, so that they are seen while a request is computed.
class StopOnSignal {
 public:
  /// `stop` is called once, from the other thread. After `patience`, or at a second signal, the process ends with
  /// 128 + the signal's number; without `patience` it is never ended so.
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
  int last_ = 0;  // wakes the thread when the object ends
  sigset_t set_{};
  sigset_t before_{};
  std::atomic<bool> is_over_ = false;
  std::thread thread_ = {};
};

/// What stops a server. It gives current answers two seconds; what computes longer is not waited for.
inline constexpr std::array server_signals{SIGINT, SIGTERM};
inline constexpr std::chrono::seconds server_patience{3};

}  // namespace ws::mock
