/// The queue of agent events: what may become of an event, and when.
///
/// An event is `queued`, then `leased` by one worker, and ends `completed`, `failed` or `dead`. A lease that lapses and
/// a failure that may be tried again put it back, to be claimed after 5, 10, 20, 40 s; the fifth time it is dead
/// (`decisions.md`, "event"). A lapse needs no timer: whoever looks first settles what has lapsed by then, with the
/// times at which it happened. Callers hold a UnitOfWork.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

inline constexpr int max_attempts = 5;

/// After how long an event may be claimed again whose attempt (from 1) failed.
std::chrono::seconds retry_delay(std::int64_t attempt);

struct NewEvent {
  std::string_view kind = {};  ///< "comment.mention"
  std::string_view agent_id = {};
  std::string_view document_id = {};  ///< empty: none, as below
  std::string_view thread_id = {};
  std::string_view comment_id = {};
  const Json& payload;
};

struct AgentEvent {
  std::string id = {};
  std::string kind = {};
  std::string workspace_id = {};
  std::string agent_id = {};
  std::string owner_user_id = {};  ///< of the agent
  std::string document_id = {};
  std::string thread_id = {};
  std::string comment_id = {};
  std::string payload = {};  ///< JSON
  std::string status = {};
  std::int64_t attempt = 0;  ///< how often it was claimed
  std::string lease_token_sha256 = {};
  std::optional<std::int64_t> lease_expires_at = {};
  std::int64_t created_at = 0;

  bool is_finished() const { return status != "queued" && status != "leased"; }
  bool is_held_with(std::string_view lease_token) const;
};

/// The event behind `lease_token`; null members where it is no longer held.
Json to_json(const AgentEvent& event, std::string_view lease_token);

/// Puts an event into an agent's queue and wakes who waits for it; returns its id. Fails with `not_found` where there
/// is no such agent.
Result<std::string> queue_event(World& world, const NewEvent& event);

/// A lease that ended without a word of its holder.
struct Lapse {
  std::string event_id = {};
  std::int64_t at = 0;
  bool dead = false;
};
/// Takes back every lease that has ended by now, in order of time.
Result<std::vector<Lapse>> settle_leases(World& world);

/// As it stands after `settle_leases`. Empty where there is none.
Result<std::optional<AgentEvent>> find_event(World& world, std::string_view id);
/// The oldest that may be claimed now of these agents; empty where there is none.
Result<std::optional<AgentEvent>> oldest_claimable(World& world, std::span<const std::string> agent_ids);
/// When there may be one, should nothing else happen: a delay or a lease ends. Empty: never.
Result<std::optional<std::int64_t>> next_due(World& world, std::span<const std::string> agent_ids);

/// Gives the event to a worker under a new lease; `event` becomes what it is now. Returns the token.
Result<std::string> lease_event(World& world,
                                AgentEvent& event,
                                std::string_view worker_id,
                                std::chrono::seconds duration);
/// From now on for `duration`.
Result<void> extend_lease(World& world, AgentEvent& event, std::chrono::seconds duration);
Result<void> complete_event(World& world, AgentEvent& event, const Json& result);
enum class Retryable { no, yes };
Result<void> fail_event(World& world, AgentEvent& event, std::string_view error, Retryable retryable);

}  // namespace ws::mock
