/// Ignores signals while another program uses the terminal.
#pragma once

#include <csignal>
#include <initializer_list>
#include <utility>
#include <vector>

namespace ws::cli {

/// Ignores the signals until it is destroyed, then restores their handlers.
class IgnoredSignals {
 public:
  explicit IgnoredSignals(std::initializer_list<int> signals) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (const int signal : signals) {
      struct sigaction before {};
      if (::sigaction(signal, &ignore, &before) == 0) before_.emplace_back(signal, before);
    }
  }
  ~IgnoredSignals() {
    for (const auto& [signal, before] : before_) ::sigaction(signal, &before, nullptr);
  }
  IgnoredSignals(const IgnoredSignals&) = delete;
  IgnoredSignals& operator=(const IgnoredSignals&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> before_ = {};
};

}  // namespace ws::cli
