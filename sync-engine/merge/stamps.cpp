#include "sync-engine/merge/stamps.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <tuple>

#include "api-client/base/ascii.hpp"
#include "sync-engine/merge/text_form.hpp"

namespace ws::sync::merge {
namespace {

constexpr std::string_view known_keys[] = {"updated", "modified", "lastmod", "date modified", "last_modified"};

std::string_view unquoted(std::string_view text) {
  const bool is_quoted =
      text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

struct Stamp {
  std::int64_t seconds = 0;   ///< since 1970, as written
  std::string fraction = {};  ///< of a second, without zeros at its end
  bool has_time = false;
  std::optional<std::int64_t> zone_seconds = {};  ///< east of Greenwich
};

/// Reads the parts of a date from left to right.
class StampReader {
 public:
  explicit StampReader(std::string_view text) : rest_(text) {}

  std::optional<Stamp> read() {
    if (!read_day()) return std::nullopt;
    if (rest_.empty()) return stamp_;
    if (!take('T') && !take('t') && !take_blanks()) return std::nullopt;
    if (!read_time()) return std::nullopt;
    take_blanks();
    if (!rest_.empty() && !read_zone()) return std::nullopt;
    return rest_.empty() ? std::optional(stamp_) : std::nullopt;
  }

 private:
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_blanks() {
    const std::size_t blanks = std::min(rest_.find_first_not_of(" \t"), rest_.size());
    rest_.remove_prefix(blanks);
    return blanks > 0;
  }

  /// A number of `least` to `most` digits, up to `bound`.
  bool number(int& value, std::size_t least, std::size_t most, int bound) {
    const std::size_t digits = std::min({rest_.find_first_not_of("0123456789"), rest_.size(), most});
    if (digits < least) return false;
    std::from_chars(rest_.data(), rest_.data() + digits, value);
    rest_.remove_prefix(digits);
    return value <= bound;
  }

  bool read_day() {
    int year = 0;
    int month = 0;
    int day = 0;
    if (!number(year, 4, 4, 9999) || rest_.empty()) return false;
    const char sign = rest_.front();
    if ((sign != '-' && sign != '/') || !take(sign) || !number(month, 1, 2, 12)) return false;
    if (!take(sign) || !number(day, 1, 2, 31)) return false;
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return false;
    stamp_.seconds = std::chrono::seconds(std::chrono::sys_days(date).time_since_epoch()).count();
    return true;
  }

  bool read_time() {
    int hour = 0;
    int minute = 0;
    int second = 0;
    if (!number(hour, 1, 2, 24) || !take(':') || !number(minute, 2, 2, 59)) return false;
    if (take(':') && !number(second, 2, 2, 60)) return false;
    if (take('.')) {
      const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      if (digits == 0) return false;
      stamp_.fraction = rest_.substr(0, digits);
      while (stamp_.fraction.ends_with('0')) stamp_.fraction.pop_back();
      rest_.remove_prefix(digits);
    }
    stamp_.seconds += hour * 3600 + minute * 60 + second;
    stamp_.has_time = true;
    return true;
  }

  bool read_zone() {
    stamp_.zone_seconds = 0;
    if (take('Z') || take('z')) return true;
    const bool is_west = rest_.starts_with('-');
    int hours = 0;
    int minutes = 0;
    if ((!take('+') && !take('-')) || !number(hours, 1, 2, 15)) return false;
    if ((take(':') || !rest_.empty()) && !number(minutes, 2, 2, 59)) return false;
    stamp_.zone_seconds = (hours * 3600 + minutes * 60) * (is_west ? -1 : 1);
    return true;
  }

  std::string_view rest_;
  Stamp stamp_ = {};
};

/// Whether `left` is earlier than `right`.
bool is_earlier(const Stamp& left, const Stamp& right) {
  const bool as_instants = left.zone_seconds && right.zone_seconds;
  const auto order = [&](const Stamp& stamp) {
    const std::int64_t seconds = stamp.seconds - (as_instants ? *stamp.zone_seconds : 0);
    return std::tuple<std::int64_t, bool, std::string_view>(seconds, stamp.has_time, stamp.fraction);
  };
  return order(left) < order(right);
}

struct StampEntry {
  std::string_view comments = {};
  std::string_view line = {};
  Stamp stamp = {};
};

/// Empty where the entry is no date on one line.
std::optional<StampEntry> read_entry(std::string_view text) {
  StampEntry entry;
  std::string_view rest = text;
  while (!rest.empty() && (rest.front() == '#' || rest.front() == '\n')) take_line(rest);
  entry.comments = text.substr(0, text.size() - rest.size());
  entry.line = take_line(rest);
  if (!rest.empty() || entry.line.empty()) return std::nullopt;
  const std::size_t from =
      entry.line.front() == '"' || entry.line.front() == '\'' ? entry.line.find(entry.line.front(), 1) : 0;
  const std::size_t colon = entry.line.find(':', from == std::string_view::npos ? 0 : from);
  if (colon == std::string_view::npos) return std::nullopt;
  const auto stamp = StampReader(unquoted(trimmed(entry.line.substr(colon + 1), " \t\n"))).read();
  if (!stamp) return std::nullopt;
  entry.stamp = *stamp;
  return entry;
}

/// The comments above an entry in the base; where that is empty, there are none.
std::string_view comments_of(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty() && (rest.front() == '#' || rest.front() == '\n')) take_line(rest);
  return text.substr(0, text.size() - rest.size());
}

}  // namespace

bool is_stamp_key(std::string_view key, const std::vector<std::string>& more) {
  key = unquoted(key);
  const auto is_it = [&](std::string_view known) { return equal_ignoring_case(key, known); };
  return std::ranges::any_of(known_keys, is_it) || std::ranges::any_of(more, is_it);
}

std::optional<std::string> later_stamp(std::string_view base, std::string_view ours, std::string_view theirs) {
  const auto left = read_entry(ours);
  const auto right = read_entry(theirs);
  if (!left || !right) return std::nullopt;
  std::string_view comments = left->comments;
  if (left->comments != right->comments) {
    const std::string_view before = comments_of(base);
    if (left->comments != before && right->comments != before) return std::nullopt;
    comments = left->comments == before ? right->comments : left->comments;
  }
  std::string_view line = std::max(left->line, right->line);
  if (is_earlier(left->stamp, right->stamp)) line = right->line;
  if (is_earlier(right->stamp, left->stamp)) line = left->line;
  return std::string(comments).append(line);
}

}  // namespace ws::sync::merge
