#include "server-mock/application/stop_on_signal.hpp"

#include <ctime>
#include <utility>

#include <unistd.h>

#include "api-client/base/descriptor.hpp"

namespace ws::mock {

StopOnSignal::StopOnSignal(std::span<const int> signals,
                           std::function<void()> stop,
                           std::optional<std::chrono::seconds> patience)
    : stop_(std::move(stop)), patience_(patience), last_(signals.back()) {
  ::sigemptyset(&set_);
  for (const int signal : signals) ::sigaddset(&set_, signal);
  ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  thread_ = std::thread([this] { take(); });
}

StopOnSignal::~StopOnSignal() {
  is_over_ = true;
  ::pthread_kill(thread_.native_handle(), last_);
  thread_.join();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopOnSignal::take() {
  int signal = 0;
  ::sigwait(&set_, &signal);
  if (is_over_) return;
  stop_();
  if (!patience_) return;
  const timespec wait{.tv_sec = patience_->count(), .tv_nsec = 0};
  retry_eintr([&] { return ::sigtimedwait(&set_, nullptr, &wait); });
  if (!is_over_) ::_exit(128 + signal);
}

}  // namespace ws::mock
