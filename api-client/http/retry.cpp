#include "api-client/http/retry.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace ws::http {
namespace {

using contract::RetryClass;
using Kind = Failure::Kind;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds first_delay{500};
constexpr Milliseconds longest_delay{8'000};
constexpr Milliseconds a_year = std::chrono::days{365};

enum class Again { never, yes };

/// What happens after one ending, and how the call ends when it is not repeated (any more).
struct Cell {
  Again again = Again::never;
  Kind kind = Kind::internal;
  Applied applied = Applied::no;
  bool retryable = false;
};

/// One row of the table in `cli.md`, "Retry classes and outcomes".
struct Row {
  Cell nothing_sent, no_answer, server_error, unavailable, rate_limited, unusable;
};

constexpr Cell sent_nothing{Again::yes, Kind::unreachable, Applied::no, true};
constexpr Cell wait_service{Again::yes, Kind::service, Applied::no, true};
constexpr Cell wait_limited{Again::yes, Kind::rate_limited, Applied::no, true};
constexpr Cell unknown_outcome{Again::never, Kind::unknown_outcome, Applied::unknown, false};

constexpr Row read_row{.nothing_sent = sent_nothing,
                       .no_answer = {Again::yes, Kind::unreachable, Applied::no, true},
                       .server_error = {Again::yes, Kind::service, Applied::no, true},
                       .unavailable = wait_service,
                       .rate_limited = wait_limited,
                       .unusable = {Again::never, Kind::internal, Applied::no, false}};

/// Classes K, P, S, D and L: a repeat cannot do it twice.
constexpr Row guarded_row{.nothing_sent = sent_nothing,
                          .no_answer = {Again::yes, Kind::unknown_outcome, Applied::unknown, true},
                          .server_error = {Again::yes, Kind::service, Applied::unknown, true},
                          .unavailable = wait_service,
                          .rate_limited = wait_limited,
                          .unusable = unknown_outcome};

constexpr Row unsafe_row{.nothing_sent = sent_nothing,
                         .no_answer = unknown_outcome,
                         .server_error = {Again::never, Kind::service, Applied::unknown, false},
                         .unavailable = wait_service,
                         .rate_limited = wait_limited,
                         .unusable = unknown_outcome};

constexpr const Row& row_of(RetryClass retry) {
  switch (retry) {
    case RetryClass::read:
    case RetryClass::poll: return read_row;
    case RetryClass::keyed:
    case RetryClass::revision:
    case RetryClass::sync:
    case RetryClass::repeatable:
    case RetryClass::lease: return guarded_row;
    case RetryClass::unsafe: return unsafe_row;
  }
  return unsafe_row;
}

bool is_read(RetryClass retry) { return retry == RetryClass::read || retry == RetryClass::poll; }

Cell cell_of(RetryClass retry, Ending ending) {
  const Row& row = row_of(retry);
  switch (ending) {
    case Ending::success: return {Again::never, Kind::internal, Applied::yes, false};
    case Ending::nothing_sent: return row.nothing_sent;
    case Ending::tls: return {Again::never, Kind::unreachable, Applied::no, false};
    case Ending::no_answer: return row.no_answer;
    case Ending::server_error: return row.server_error;
    case Ending::unavailable: return row.unavailable;
    case Ending::rate_limited: return row.rate_limited;
    case Ending::unusable: return row.unusable;
    case Ending::in_flight:
      // The first send is still being worked on: only a key tells us that it is ours.
      if (retry == RetryClass::keyed) return {Again::yes, Kind::conflict, Applied::unknown, true};
      return {Again::never, Kind::conflict, Applied::no, false};
    case Ending::refused: return {Again::never, Kind::invalid, Applied::no, false};
    case Ending::cancelled:
      return {Again::never, Kind::cancelled, is_read(retry) ? Applied::no : Applied::unknown, true};
  }
  return unknown_outcome;
}

bool has_sends_left(const Attempt& attempt, const RetryBudget& budget, Milliseconds delay) {
  if (attempt.retry == RetryClass::lease && budget.lease_left) return delay < *budget.lease_left;
  if (is_counted(attempt.retry) && budget.retries_left <= 0) return false;
  return attempt.sends < budget.sends_per_call;
}

/// Reads a text from its front; what does not fit empties it for good.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  int number() {
    int value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0) failed_ = true;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }
  void skip(std::string_view expected) {
    if (text_.substr(0, expected.size()) != expected) failed_ = true;
    text_.remove_prefix(std::min(expected.size(), text_.size()));
  }
  unsigned month() {
    constexpr std::array<std::string_view, 12> names = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto found = std::find(names.begin(), names.end(), text_.substr(0, 3));
    if (found == names.end()) failed_ = true;
    text_.remove_prefix(std::min<std::size_t>(3, text_.size()));
    return static_cast<unsigned>(found - names.begin()) + 1;
  }
  std::chrono::seconds time_of_day() {
    const int hours = number();
    skip(":");
    const int minutes = number();
    skip(":");
    const int seconds = number();
    if (hours > 23 || minutes > 59 || seconds > 60) failed_ = true;
    return std::chrono::hours{hours} + std::chrono::minutes{minutes} + std::chrono::seconds{seconds};
  }
  char front() const { return text_.empty() ? '\0' : text_.front(); }
  bool done() const { return !failed_ && text_.empty(); }

 private:
  std::string_view text_;
  bool failed_ = false;
};

std::optional<Time> make_time(int year, unsigned month, int day, std::chrono::seconds time_of_day) {
  const std::chrono::year_month_day date{
      std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{static_cast<unsigned>(day)}};
  if (year > 9999 || !date.ok()) return std::nullopt;
  return std::chrono::sys_days{date} + time_of_day;
}

/// "06 Nov 1994 08:49:37 GMT", or "06-Nov-94 08:49:37 GMT" as RFC 850 had it.
std::optional<Time> parse_after_comma(std::string_view text, Time now) {
  Scanner scanner(text);
  const int day = scanner.number();
  const bool old = scanner.front() == '-';
  scanner.skip(old ? "-" : " ");
  const unsigned month = scanner.month();
  scanner.skip(old ? "-" : " ");
  int year = scanner.number();
  scanner.skip(" ");
  const auto time = scanner.time_of_day();
  scanner.skip(" GMT");
  if (!scanner.done()) return std::nullopt;
  if (old && year < 100) {
    // RFC 9110, 5.6.7: more than 50 years ahead means the century before.
    const int this_year = int{std::chrono::year_month_day{std::chrono::floor<std::chrono::days>(now)}.year()};
    year += this_year / 100 * 100;
    if (year > this_year + 50) year -= 100;
  }
  return make_time(year, month, day, time);
}

/// "Nov  6 08:49:37 1994", what follows the day's name in asctime's form.
std::optional<Time> parse_asctime(std::string_view text) {
  Scanner scanner(text);
  const unsigned month = scanner.month();
  scanner.skip(" ");
  if (scanner.front() == ' ') scanner.skip(" ");
  const int day = scanner.number();
  scanner.skip(" ");
  const auto time = scanner.time_of_day();
  scanner.skip(" ");
  const int year = scanner.number();
  if (!scanner.done()) return std::nullopt;
  return make_time(year, month, day, time);
}

}  // namespace

std::optional<Time> parse_http_date(std::string_view text, Time now) {
  if (const std::size_t comma = text.find(", "); comma != std::string_view::npos) {
    return parse_after_comma(text.substr(comma + 2), now);
  }
  if (text.size() < 4 || text[3] != ' ') return std::nullopt;
  return parse_asctime(text.substr(4));
}

Milliseconds pause_before(int sends, double random) {
  Milliseconds ceiling = first_delay;
  for (int i = 1; i < sends && ceiling < longest_delay; ++i) ceiling *= 2;
  ceiling = std::min(ceiling, longest_delay);
  return Milliseconds{static_cast<std::int64_t>(static_cast<double>(ceiling.count()) * random)};
}

bool leaves_doubt(RetryClass retry, Ending ending) {
  if (is_read(retry)) return false;
  const bool repeats_itself = ending == Ending::in_flight && retry == RetryClass::keyed;
  return ending == Ending::no_answer || ending == Ending::server_error || ending == Ending::unusable || repeats_itself;
}

bool is_counted(RetryClass retry) { return retry != RetryClass::lease && retry != RetryClass::poll; }

Decision decide(const Attempt& attempt, const RetryBudget& budget, double random) {
  const Cell cell = cell_of(attempt.retry, attempt.ending);
  Decision decision{.kind = cell.kind, .applied = cell.applied, .retryable = cell.retryable};
  if (attempt.in_doubt && attempt.ending != Ending::success) {
    decision.applied = Applied::unknown;
    if (cell.kind == Kind::unreachable) decision.kind = Kind::unknown_outcome;
  }
  if (cell.again == Again::never) return decision;
  const Milliseconds asked = attempt.retry_after.value_or(Milliseconds{0});
  if (asked > budget.max_wait) return decision;
  const Milliseconds delay = std::max(pause_before(attempt.sends, random), asked);
  if (!has_sends_left(attempt, budget, delay)) return decision;
  decision.again = true;
  decision.delay = delay;
  return decision;
}

std::optional<Milliseconds> parse_retry_after(std::string_view value, Time now) {
  const std::size_t first = value.find_first_not_of(" \t");
  if (first == std::string_view::npos) return std::nullopt;
  value = value.substr(first, value.find_last_not_of(" \t") - first + 1);
  const bool negative = value.front() == '-';
  const std::string_view digits = negative ? value.substr(1) : value;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!digits.empty() && std::all_of(digits.begin(), digits.end(), is_digit)) {
    if (negative) return Milliseconds{0};
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
    if (error != std::errc{} || seconds > a_year / std::chrono::seconds{1}) return a_year;
    return std::chrono::seconds{seconds};
  }
  const std::optional<Time> date = parse_http_date(value, now);
  if (!date) return std::nullopt;
  return std::clamp<Milliseconds>(*date - now, Milliseconds{0}, a_year);
}

}  // namespace ws::http
