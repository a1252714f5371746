#include "cli/commands/event_lease.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace ws::cli {
namespace {

constexpr std::int64_t usual_pause_seconds = 5;    // API document, "Agent event claim response"
constexpr std::int64_t usual_lease_seconds = 300;  // API document, "Limits"
constexpr std::int64_t longest_pause_seconds = 3600;

}  // namespace

std::optional<Claim> read_claim(const Json& answer) {
  const Json* const event = find(answer, "event");
  if (event == nullptr || !event->is_object()) return std::nullopt;
  Claim claim{.event_id = find_text(*event, "id").value_or(""),
              .lease_token = find_text(*event, "lease_token").value_or(""),
              .kind = find_text(*event, "kind").value_or(""),
              .event = *event};
  // Where the fields stand is an assumption; beside the event is as likely a place.
  if (claim.lease_token.empty()) claim.lease_token = find_text(answer, "lease_token").value_or("");
  if (claim.event_id.empty()) claim.event_id = find_text(*event, "event_id").value_or("");
  if (claim.event_id.empty() || claim.lease_token.empty()) return std::nullopt;
  return claim;
}

std::chrono::milliseconds pause_after_none(const Json& answer) {
  const std::int64_t seconds = find_integer(answer, "retry_after_seconds").value_or(usual_pause_seconds);
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, longest_pause_seconds));
}

std::chrono::milliseconds lease_length(const Json& body) {
  return std::chrono::seconds(find_integer(body, "lease_seconds").value_or(usual_lease_seconds));
}

std::string usual_worker_id() {
  std::array<char, 256> host{};
  const bool named = ::gethostname(host.data(), host.size() - 1) == 0 && host[0] != 0;
  return (named ? std::string(host.data()).substr(0, 100) : "ws") + "-" + std::to_string(::getpid());
}

const std::vector<Flag>& worker_flags() {
  static const std::vector<Flag> flags = {{.name = "worker",
                                           .takes = Takes::one,
                                           .placeholder = "ID",
                                           .help = "who takes the event; without it host and process",
                                           .limits = "1-120 characters"},
                                          {.name = "worker-id",
                                           .takes = Takes::one,
                                           .placeholder = "ID",
                                           .help = "the same",
                                           .limits = "1-120 characters"}};
  return flags;
}

}  // namespace ws::cli
