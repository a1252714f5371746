#include "server-mock/sandbox/clock.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace ws::mock {

Result<MockClock> MockClock::parse(std::string_view text) {
  constexpr std::string_view frozen = "frozen:";
  constexpr std::string_view offset = "offset:";
  MockClock clock;
  if (text == "real") return clock;
  if (text.starts_with(frozen)) {
    WS_LET(clock.frozen_, parse_rfc3339(text.substr(frozen.size())));
    return clock;
  }
  if (text.starts_with(offset)) {
    text.remove_prefix(offset.size());
    const bool back = text.starts_with('-');
    if (back || text.starts_with('+')) text.remove_prefix(1);
    WS_LET(const std::chrono::milliseconds by, parse_duration(text));
    clock.offset_ = back ? -by : by;
    return clock;
  }
  return fail(Failure::Kind::invalid,
              fmt::format("\"{}\" is not a clock", text),
              "use real, frozen:2026-11-20T10:00:00Z or offset:+2h");
}

Time MockClock::real_now() const {
  if (pinned_ && pinned_->at) return *pinned_->at;
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

Time MockClock::now() const { return frozen_ ? *frozen_ : real_now() + offset_; }

void MockClock::advance(std::chrono::milliseconds by) {
  if (frozen_) {
    *frozen_ += by;
  } else {
    offset_ += by;
  }
}

std::string MockClock::text() const {
  if (frozen_) return "frozen:" + to_rfc3339(*frozen_);
  if (offset_.count() == 0) return "real";
  constexpr std::pair<std::int64_t, std::string_view> units[] = {
      {3'600'000, "h"}, {60'000, "m"}, {1'000, "s"}, {1, "ms"}};
  const auto* unit = std::ranges::find_if(units, [&](const auto& one) { return offset_.count() % one.first == 0; });
  return fmt::format(
      "offset:{}{}{}", offset_.count() < 0 ? "-" : "+", std::abs(offset_.count()) / unit->first, unit->second);
}

}  // namespace ws::mock
