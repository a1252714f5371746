/// What is repeated, when, and how often: one pure function over the table of `cli.md`, "Retry classes and outcomes".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "api-client/base/clock.hpp"
#include "api-client/base/random.hpp"
#include "api-client/base/result.hpp"
#include "api-client/contract/schema.hpp"

namespace ws::http {

/// How one send ended, as the columns of the table.
enum class Ending {
  success,       ///< 2xx that is what the operation promises
  nothing_sent,  ///< DNS, connect
  tls,           ///< one send, always
  no_answer,     ///< sent, no or cut answer
  server_error,  ///< 408, 5xx
  unavailable,   ///< 503 with Retry-After
  rate_limited,  ///< 429
  unusable,      ///< complete but unusable: over-bounded, wrong type, a redirect
  in_flight,     ///< 409 idempotency_in_flight (class K)
  refused,       ///< any other 4xx: final
  cancelled,
};

struct Attempt {
  contract::RetryClass retry = contract::RetryClass::read;
  Ending ending = Ending::success;
  int sends = 1;                                              ///< of this call so far, this one included
  std::optional<std::chrono::milliseconds> retry_after = {};  ///< what the server asked for
  bool in_doubt = false;  ///< an earlier send of this call may have taken effect: `leaves_doubt` was true of its end
};

/// What a command has left (`safety.md`, promise 11).
struct RetryBudget {
  int sends_per_call = 3;
  int retries_left = 10;                                     ///< of the command; a sync run starts with 100
  std::chrono::milliseconds max_wait{60'000};                ///< a longer Retry-After ends the call at once
  std::optional<std::chrono::milliseconds> lease_left = {};  ///< class L: until the lease ends
};

struct Decision {
  bool again = false;
  std::chrono::milliseconds delay{0};            ///< before the next send
  Failure::Kind kind = Failure::Kind::internal;  ///< when it ends here; of `refused` the status decides, not this
  Applied applied = Applied::no;
  bool retryable = false;  ///< the caller may run the same command again
};

/// Full jitter: `random` in [0, 1) of 0.5 s * 2^n up to 8 s; never sooner than `retry_after`. A call that is in doubt
/// never ends as "nothing applied": 11 becomes 12, and `applied` is unknown whatever came last. Polls are decided like
/// reads; leases and polls take nothing from `retries_left`.
Decision decide(const Attempt& attempt, const RetryBudget& budget, double random);

/// Whether after this end nobody knows if the change happened.
bool leaves_doubt(contract::RetryClass retry, Ending ending);

/// Whether a repeat of this class counts against `retries_left`.
bool is_counted(contract::RetryClass retry);

/// How long to wait after the `sends`-th send, from 1, where the server asked for nothing.
std::chrono::milliseconds pause_before(int sends, double random);

/// An HTTP date in any of its three forms (RFC 9110, 5.6.7); `now` tells the century of the oldest one.
std::optional<Time> parse_http_date(std::string_view text, Time now);

/// Seconds or an HTTP date (RFC 9110, 10.2.3); negative, past: 0; nonsense: empty; absurd ones are cut at a year.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view value, Time now);

}  // namespace ws::http
