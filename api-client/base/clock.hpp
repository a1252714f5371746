/// Time as a port, and its text form.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws {

/// Wall time, UTC, milliseconds: the API's resolution.
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

/// Where the time comes from; the mock's can be frozen and moved.
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

/// RFC 3339 with milliseconds: `2026-11-20T10:00:00.000Z`.
std::string to_rfc3339(Time time);
/// Any RFC 3339 date-time, offsets too. Fails with `invalid`.
Result<Time> parse_rfc3339(std::string_view text);

/// `90s`, `15m`, `2h`, `90d`, `250ms`; a bare number is seconds. Fails with `invalid`.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace ws
