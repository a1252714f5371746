/// Claims, leases and worker names, as the event commands share them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/client/client.hpp"
#include "cli/grammar/command.hpp"

namespace ws::cli {

/// The event of a claim's answer.
struct Claim {
  std::string event_id = {};
  std::string lease_token = {};
  std::string kind = {};
  int attempt = 0;  ///< which try this is, from 1; 0: the service does not say
  JsonBox event = {};
};
/// Empty: none was waiting, or what came has no id or no token to hold it by (`has_event` tells them apart).
std::optional<Claim> read_claim(const Json& answer);
/// Whether a claim brought an event, of whatever shape.
bool has_event(const Json& answer);
/// The failure for an event without id or token: it is leased, and cannot be closed.
Failure unusable_claim();

/// How long to wait before the next claim after an answer without an event: `retry_after_seconds`, 5 s where it is
/// missing.
std::chrono::milliseconds pause_after_none(const Json& answer);

/// Of the body's `lease_seconds`; 300 s where it is missing.
std::chrono::milliseconds lease_length(const Json& body);

/// How long a lease holds from its answer on: as long as was asked for, or until the answer's `lease_expires_at`, where
/// it comes back: at most as long as was asked for, added to what was `left` of a lease that was renewed. That is a
/// time of the service's clock, so it is measured from the answer's `Date`, and from `now` only where there is none;
/// one that has passed already is of another clock and says nothing.
std::chrono::milliseconds granted_lease(const Reply& reply,
                                        std::chrono::milliseconds asked,
                                        Time now,
                                        std::chrono::milliseconds left = {});

/// "HOST-PID", at most 120 characters.
std::string usual_worker_id();

/// `--worker ID`, and its longer name from the table.
const std::vector<Flag>& worker_flags();

}  // namespace ws::cli
