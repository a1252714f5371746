#include "api-client/base/clock.hpp"

#include <charconv>

#include <fmt/format.h>

namespace ws {
namespace {

using namespace std::chrono;

/// Reads exactly `width` digits and moves `text` past them.
std::optional<int> digits(std::string_view& text, std::size_t width) {
  if (text.size() < width) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(width);
  return value;
}

bool skip(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// Overwrites `width` digits. Written by hand because the mock formats several times in each response: fmt took a
/// twelfth of the time to build one.
void put_digits(std::string& text, std::size_t place, std::size_t width, std::int64_t value) {
  for (std::size_t i = place + width; i > place; --i) {
    text[i - 1] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

std::optional<Time> parse_time(std::string_view text) {
  const auto year = digits(text, 4);
  if (!year || !skip(text, "-")) return std::nullopt;
  const auto month = digits(text, 2);
  if (!month || !skip(text, "-")) return std::nullopt;
  const auto day = digits(text, 2);
  if (!day || !skip(text, "Tt ")) return std::nullopt;
  const year_month_day date{std::chrono::year{*year},
                            std::chrono::month{static_cast<unsigned>(*month)},
                            std::chrono::day{static_cast<unsigned>(*day)}};
  const auto hour = digits(text, 2);
  if (!date.ok() || !hour || *hour > 23 || !skip(text, ":")) return std::nullopt;
  const auto minute = digits(text, 2);
  if (!minute || *minute > 59 || !skip(text, ":")) return std::nullopt;
  const auto second = digits(text, 2);
  if (!second || *second > 60) return std::nullopt;
  milliseconds fraction{0};
  if (skip(text, ".")) {
    int unit = 100;
    std::size_t count = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
      fraction += milliseconds{(text.front() - '0') * unit};
      unit /= 10;
      ++count;
      text.remove_prefix(1);
    }
    if (count == 0) return std::nullopt;
  }
  minutes offset{0};
  if (!skip(text, "Zz")) {
    if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
    const int sign = text.front() == '+' ? 1 : -1;
    text.remove_prefix(1);
    const auto offset_hours = digits(text, 2);
    if (!offset_hours || *offset_hours > 23 || !skip(text, ":")) return std::nullopt;
    const auto offset_minutes = digits(text, 2);
    if (!offset_minutes || *offset_minutes > 59) return std::nullopt;
    offset = sign * (hours{*offset_hours} + minutes{*offset_minutes});
  }
  if (!text.empty()) return std::nullopt;
  return Time{sys_days{date}} + hours{*hour} + minutes{*minute} + seconds{*second} + fraction - offset;
}

}  // namespace

Time SystemClock::now() const { return time_point_cast<milliseconds>(system_clock::now()); }

std::string to_rfc3339(Time time) {
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const auto clock = time - day;
  std::string text = "0000-00-00T00:00:00.000Z";
  const bool fits = date.year() >= year{0} && date.year() <= year{9999};
  put_digits(text, 0, 4, fits ? static_cast<int>(date.year()) : 0);
  put_digits(text, 5, 2, static_cast<unsigned>(date.month()));
  put_digits(text, 8, 2, static_cast<unsigned>(date.day()));
  put_digits(text, 11, 2, clock / hours{1});
  put_digits(text, 14, 2, clock / minutes{1} % 60);
  put_digits(text, 17, 2, clock / seconds{1} % 60);
  put_digits(text, 20, 3, clock.count() % 1000);
  return fits ? text : fmt::format("{:04}{}", static_cast<int>(date.year()), text.substr(4));
}

Result<Time> parse_rfc3339(std::string_view text) {
  const auto time = parse_time(text);
  if (!time)
    return fail(Failure::Kind::invalid, fmt::format("\"{}\" is not an RFC 3339 time like 2026-11-20T10:00:00Z", text));
  return *time;
}

Result<milliseconds> parse_duration(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double factor = 0;
  if (unit.empty() || unit == "s") factor = 1000;
  if (unit == "ms") factor = 1;
  if (unit == "m") factor = 60'000;
  if (unit == "h") factor = 3'600'000;
  if (unit == "d") factor = 86'400'000;
  if (error != std::errc{} || factor == 0 || !(value >= 0 && value * factor <= 1e15)) {
    return fail(Failure::Kind::invalid, fmt::format("\"{}\" is not a duration like 90s, 15m, 2h or 30d", text));
  }
  return milliseconds{static_cast<std::int64_t>(value * factor)};
}

}  // namespace ws
