#include "api-client/http/retry.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>

#include "api-client/base/ascii.hpp"

namespace ws::http {
namespace {

using contract::RetryClass;
using Kind = Failure::Kind;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds first_delay{500};
constexpr Milliseconds longest_delay{8'000};
constexpr Milliseconds a_year = std::chrono::days{365};

enum class Again { never, yes };

/// The action after one kind of outcome, and the result of the call if it is not retried (any more).
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

/// Classes K, P, S, D and L: a retry cannot apply the change twice.
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
      // The first send is still being processed; only the idempotency key shows that it is ours.
      if (retry == RetryClass::keyed) return {Again::yes, Kind::conflict, Applied::unknown, true};
      return {Again::never, Kind::conflict, Applied::no, false};
    case Ending::refused: return {Again::never, Kind::invalid, Applied::no, false};
    case Ending::cancelled:
      return {
          Again::never, Kind::cancelled, is_read(retry) ? Applied::no : Applied::unknown, retry != RetryClass::unsafe};
  }
  return unknown_outcome;
}

bool has_sends_left(const Attempt& attempt, const RetryBudget& budget, Milliseconds delay) {
  if (attempt.retry == RetryClass::lease && budget.lease_left) return delay < *budget.lease_left;
  if (is_counted(attempt.retry) && budget.retries_left <= 0) return false;
  return attempt.sends < budget.sends_per_call;
}

}  // namespace

std::optional<Time> parse_http_date(std::string_view text, Time now) {
  const std::string whole(text);
  // Our programs never call setlocale(3), so strptime(3) expects English names.
  for (const char* const format : {"%a, %d %b %Y %H:%M:%S GMT", "%a, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"}) {
    std::tm parts{};
    const char* const end = ::strptime(whole.c_str(), format, &parts);
    if (end != whole.c_str() + whole.size()) continue;
    int year = parts.tm_year + 1900;
    if (std::string_view(format).find("%y") != std::string_view::npos) {
      // RFC 9110, 5.6.7: a two-digit year more than 50 years in the future is in the previous century.
      const int this_year = int{std::chrono::year_month_day{std::chrono::floor<std::chrono::days>(now)}.year()};
      year = this_year / 100 * 100 + year % 100;
      if (year > this_year + 50) year -= 100;
    }
    const std::chrono::year_month_day date{std::chrono::year{year},
                                           std::chrono::month{static_cast<unsigned>(parts.tm_mon) + 1},
                                           std::chrono::day{static_cast<unsigned>(parts.tm_mday)}};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days{date} + std::chrono::hours{parts.tm_hour} + std::chrono::minutes{parts.tm_min} +
           std::chrono::seconds{parts.tm_sec};
  }
  return std::nullopt;
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
  value = trimmed(value, " \t");
  if (value.empty()) return std::nullopt;
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
