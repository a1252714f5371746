/// What is retried, when, and how often: a pure function of the table in `cli.md`, "Retry classes and outcomes".
#pragma once

#include <chrono>
#include <optional>

#include "api-client/base/clock.hpp"
#include "api-client/base/random.hpp"
#include "api-client/base/result.hpp"
#include "api-client/contract/schema.hpp"

namespace ws::http {

/// The outcome of one send: the columns of the table.
enum class Ending {
  success,       ///< 2xx as the operation promises
  nothing_sent,  ///< DNS, connect
  tls,           ///< TLS failure: never retried
  no_answer,     ///< sent; the response is missing or truncated
  server_error,  ///< 408, 5xx
  unavailable,   ///< 503 with Retry-After
  rate_limited,  ///< 429
  unusable,      ///< complete but unusable: too large, wrong type, a redirect
  in_flight,     ///< 409 idempotency_in_flight (class K)
  refused,       ///< any other 4xx: final
  cancelled,
};

struct Attempt {
  contract::RetryClass retry = contract::RetryClass::read;
  Ending ending = Ending::success;
  int sends = 1;                                              ///< of this call so far, including this one
  std::optional<std::chrono::milliseconds> retry_after = {};  ///< as requested by the server
  bool in_doubt = false;  ///< `leaves_doubt` was true for an earlier send: it may have taken effect
};

/// The retries that a command has left (`safety.md`, promise 11).
struct RetryBudget {
  int sends_per_call = 3;
  int retries_left = 10;                                     ///< per command; a sync run starts with 100
  std::chrono::milliseconds max_wait{60'000};                ///< a longer Retry-After ends the call at once
  std::optional<std::chrono::milliseconds> lease_left = {};  ///< class L: time until the lease ends
};

struct Decision {
  bool again = false;
  std::chrono::milliseconds delay{0};            ///< before the next send
  Failure::Kind kind = Failure::Kind::internal;  ///< if the call ends here; for `refused` the status decides instead
  Applied applied = Applied::no;
  bool retryable = false;  ///< the caller may run the same command again
};

/// Full jitter: `random` in [0, 1) of 0.5 s * 2^n up to 8 s; never earlier than `retry_after`. A call in doubt never
/// ends as "nothing applied": 11 becomes 12, and `applied` is unknown whatever the last outcome. Polls follow the rules
/// of reads; leases and polls do not use up `retries_left`.
Decision decide(const Attempt& attempt, const RetryBudget& budget, double random);

/// Whether the change may or may not have taken effect after this outcome.
bool leaves_doubt(contract::RetryClass retry, Ending ending);

/// Whether a repeat of this class counts against `retries_left`.
bool is_counted(contract::RetryClass retry);

/// The pause after send number `sends`, from 1, if the server did not request one.
std::chrono::milliseconds pause_before(int sends, double random);

/// Parses the three forms of HTTP dates (RFC 9110, 5.6.7); `now` is needed for the two-digit year of one.
std::optional<Time> parse_http_date(std::string_view text, Time now);

/// Seconds or an HTTP date (RFC 9110, 10.2.3); 0 if negative or past; empty if invalid; limited to one year.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view value, Time now);

}  // namespace ws::http
