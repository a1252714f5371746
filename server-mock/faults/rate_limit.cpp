#include "server-mock/faults/rate_limit.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace ws::mock {
namespace {

// Bounds the memory that a client with ever new keys can use.
constexpr std::size_t max_keys = 10'000;
constexpr std::uint64_t max_calls = 1'000'000;

std::chrono::milliseconds unit_of(std::string_view text) {
  if (text.empty() || text == "/s") return std::chrono::seconds(1);
  if (text == "/m" || text == "/min") return std::chrono::minutes(1);
  if (text == "/h") return std::chrono::hours(1);
  return std::chrono::milliseconds(0);
}

}  // namespace

Result<Rate> Rate::parse(std::string_view text) {
  Rate rate;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), rate.calls);
  rate.per = unit_of(text.substr(static_cast<std::size_t>(read.ptr - text.data())));
  if (read.ec != std::errc{} || rate.calls == 0 || rate.calls > max_calls || rate.per.count() == 0) {
    return fail(Failure::Kind::invalid, fmt::format("\"{}\" is not a rate", text), "use 20/s, 100/m or 1000/h");
  }
  return rate;
}

std::optional<std::chrono::milliseconds> RateLimit::take(std::string_view key,
                                                         std::int64_t now,
                                                         std::int64_t real_now) {
  if (due_.size() >= max_keys) due_.clear();
  const auto whole = static_cast<double>(rate_.per.count());
  const double one = whole / static_cast<double>(rate_.calls);
  const std::int64_t passed =
      std::max(now - std::exchange(last_now_, now), real_now - std::exchange(last_real_now_, real_now));
  time_ += static_cast<double>(std::max<std::int64_t>(0, passed));
  double& due = due_[std::hash<std::string_view>()(key)];
  due = std::max(due, time_);
  const double wait = due + one - (time_ + whole);
  if (wait > 1e-6) return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(wait)));
  due += one;
  return std::nullopt;
}

}  // namespace ws::mock
