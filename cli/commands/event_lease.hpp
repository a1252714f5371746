/// What the commands around agent events share: claims as values, worker names, lengths of leases.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/json.hpp"
#include "cli/command.hpp"

namespace ws::cli {

/// The event of a claim's answer.
struct Claim {
  std::string event_id = {};
  std::string lease_token = {};
  std::string kind = {};
  JsonBox event = {};
};
/// Empty: none was waiting, or what came has no id or no token to hold it by.
std::optional<Claim> read_claim(const Json& answer);

/// How long to leave the queue alone after an answer without an event: `retry_after_seconds`, 5 s where it is missing.
std::chrono::milliseconds pause_after_none(const Json& answer);

/// Of the body's `lease_seconds`; 300 s where it is missing.
std::chrono::milliseconds lease_length(const Json& body);

/// "HOST-PID", at most 120 characters.
std::string usual_worker_id();

/// `--worker ID`, and its longer name from the table.
const std::vector<Flag>& worker_flags();

}  // namespace ws::cli
