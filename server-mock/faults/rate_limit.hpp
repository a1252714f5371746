/// Rate limit for each key (`--rate-limit`). It refills by the world's clock or the real one, whichever moves more: the
/// client that waits out its `Retry-After` waits in real time.
///
/// Allows a burst of one period's calls, then refills evenly (generic cell rate algorithm).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "api-client/base/result.hpp"

namespace ws::mock {

struct Rate {
  /// "20/s", "100/m", "1000/h"; "20" means per second. Fails with `invalid`.
  static Result<Rate> parse(std::string_view text);

  std::uint64_t calls = 0;  ///< 0: no limit
  std::chrono::milliseconds per{1000};
};

class RateLimit {
 public:
  explicit RateLimit(const Rate& rate = {}) : rate_(rate) {}

  bool is_on() const { return rate_.calls > 0; }
  /// Empty: the call is allowed, and counted. Else the time until the next call is allowed.
  std::optional<std::chrono::milliseconds> take(std::string_view key, std::int64_t now, std::int64_t real_now);
  void clear() { due_.clear(); }

 private:
  Rate rate_;
  double time_ = 0;  // milliseconds that have passed
  std::int64_t last_now_ = 0;
  std::int64_t last_real_now_ = 0;
  std::unordered_map<std::size_t, double> due_ = {};  // by hash of the key: when it is refilled completely
};

}  // namespace ws::mock
