/// The clock interface, and parsing and formatting of times and durations.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws {

/// Wall-clock time in UTC with the API's resolution of one millisecond.
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

/// A source of the current time. The mock's clock can be frozen and moved.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  virtual Time now() const = 0;
};

class SystemClock final : public Clock {
 public:
  Time now() const override;
};

/// Formats as RFC 3339 with milliseconds: `2026-11-20T10:00:00.000Z`.
std::string to_rfc3339(Time time);
/// Parses any RFC 3339 date-time, with or without an offset. Fails with `invalid`.
Result<Time> parse_rfc3339(std::string_view text);

/// Parses `90s`, `15m`, `2h`, `90d`, `250ms`; a number without a unit is in seconds. Fails with `invalid`.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace ws
