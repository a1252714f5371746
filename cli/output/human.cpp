#include "cli/output/human.hpp"

#include <array>

#include <fmt/format.h>

#include "api-client/base/uuid.hpp"

namespace ws::cli {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t short_id_length = 8;
constexpr days longest_relative{30};
constexpr seconds clock_skew{10};  // what has just happened on a machine whose clock is ahead

std::string amount(seconds distance) {
  const auto in_units = [](auto count, std::string_view unit) {
    return counted(static_cast<std::size_t>(count), unit);
  };
  if (distance < hours{1}) return in_units(std::chrono::floor<minutes>(distance).count(), "minute");
  if (distance < days{1}) return in_units(std::chrono::floor<hours>(distance).count(), "hour");
  return in_units(std::chrono::floor<days>(distance).count(), "day");
}

}  // namespace

std::string relative_time(std::string_view rfc3339, Time now) {
  const auto then = parse_rfc3339(rfc3339);
  if (!then) return std::string(rfc3339);
  const bool is_past = *then <= now;
  const auto distance = std::chrono::floor<seconds>(is_past ? now - *then : *then - now);
  if (distance >= longest_relative) return to_rfc3339(*then).substr(0, 10);
  if (distance < minutes{1}) return is_past || distance < clock_skew ? "just now" : "in less than a minute";
  return is_past ? amount(distance) + " ago" : "in " + amount(distance);
}

std::string human_size(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> units = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return counted(bytes, "byte");
  auto size = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (size >= 999.5 && unit + 1 < units.size()) {
    size /= 1000;
    ++unit;
  }
  return size < 9.95 ? fmt::format("{:.1f} {}", size, units[unit]) : fmt::format("{:.0f} {}", size, units[unit]);
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  if (count != 1 && !many.empty()) return fmt::format("{} {}", count, many);
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string human_duration(std::int64_t milliseconds) {
  if (milliseconds < 1000) return fmt::format("{} ms", milliseconds);
  if (milliseconds < 60'000) return fmt::format("{:.1f} s", static_cast<double>(milliseconds) / 1000);
  return fmt::format("{} min", milliseconds / 60'000);
}

std::string short_id(std::string_view id) {
  return std::string(is_uuid(id) ? id.substr(id.size() - short_id_length) : id);
}

}  // namespace ws::cli
