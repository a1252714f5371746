#include "cli/commands/events/lease.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api-client/base/host_name.hpp"
#include "api-client/contract/operations.hpp"

namespace ws::cli {
namespace {

constexpr std::int64_t usual_pause_seconds = 5;    // API document, "Agent event claim response"
constexpr std::int64_t usual_lease_seconds = 300;  // API document, "Limits"
constexpr std::int64_t longest_pause_seconds = 3600;
/// The least pause after an empty claim: a service that answers `retry_after_seconds: 0` is not polled in a busy loop.
constexpr std::chrono::milliseconds shortest_pause{250};

}  // namespace

std::optional<Claim> read_claim(const Json& answer) {
  const Json* const event = find(answer, "event");
  if (event == nullptr || !event->is_object()) return std::nullopt;
  Claim claim{
      .event_id = find_text(*event, "id").value_or(""),
      .lease_token = find_text(*event, "lease_token").value_or(""),
      .kind = find_text(*event, "kind").value_or(""),
      .attempt = static_cast<int>(std::clamp<std::int64_t>(find_integer(*event, "attempt").value_or(0), 0, 1'000)),
      .event = *event};
  // The API document does not show where these fields are: look in the event, then beside it.
  if (claim.lease_token.empty()) claim.lease_token = find_text(answer, "lease_token").value_or("");
  if (claim.event_id.empty()) claim.event_id = find_text(*event, "event_id").value_or("");
  if (claim.event_id.empty() || claim.lease_token.empty()) return std::nullopt;
  return claim;
}

bool has_event(const Json& answer) {
  const Json* const event = find(answer, "event");
  return event != nullptr && !event->is_null();
}

Failure unusable_claim() {
  const contract::Operation& operation = *contract::find_operation("events.claim");
  return {.kind = Failure::Kind::unknown_outcome,
          .what = "events.claim: the claimed event has no id or no lease token, so it cannot be processed",
          .hint = "run `ws events claim` again: " + std::string(operation.again),
          .code = "unusable_answer",
          .call = {.operation = std::string(operation.id), .applied = Applied::unknown}};
}

std::chrono::milliseconds pause_after_none(const Json& answer) {
  const std::int64_t seconds = find_integer(answer, "retry_after_seconds").value_or(usual_pause_seconds);
  return std::max<std::chrono::milliseconds>(
      shortest_pause, std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, longest_pause_seconds)));
}

std::chrono::milliseconds lease_length(const Json& body) {
  return std::chrono::seconds(find_integer(body, "lease_seconds").value_or(usual_lease_seconds));
}

std::chrono::milliseconds granted_lease(const Reply& reply,
                                        std::chrono::milliseconds asked,
                                        Time now,
                                        std::chrono::milliseconds left) {
  auto text = find_text(*reply.json, "lease_expires_at");
  if (const Json* const event = find(*reply.json, "event"); event != nullptr && !text) {
    text = find_text(*event, "lease_expires_at");
  }
  const auto end = text ? parse_rfc3339(*text) : Result<Time>(fail(Failure::Kind::invalid, "none"));
  if (!end) return asked;
  const auto date = http::find_header(reply.headers, "Date");
  const Time there = (date ? http::parse_http_date(*date, now) : std::nullopt).value_or(now);
  return *end <= there ? asked : std::min<std::chrono::milliseconds>(asked + left, *end - there);
}

std::string usual_worker_id() {
  const std::string host = host_name();
  return (host.empty() ? "ws" : host.substr(0, 100)) + "-" + std::to_string(::getpid());
}

const std::vector<Flag>& worker_flags() {
  static const std::vector<Flag> flags = {{.name = "worker",
                                           .placeholder = "ID",
                                           .help = "the name of the worker; by default host and process",
                                           .limits = "1-120 characters",
                                           .also = "worker-id",
                                           .fills = "worker_id"}};
  return flags;
}

}  // namespace ws::cli
