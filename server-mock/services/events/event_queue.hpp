/// The queue of agent events.
///
/// An event is `queued`, then `leased` by one worker, and ends as `completed`, `failed` or `dead`. A retryable failure
/// requeues it with a delay of 5, 10, 20, 40 s; the fifth time it becomes dead. An expired lease requeues it at once
/// and is no attempt; the hundredth time it becomes dead (`decisions.md`, "event"). No timer is needed: `expire_leases`
/// is called before every read and uses the time at which the lease ended. Call these functions within a UnitOfWork.
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
#include "server-mock/services/shared/errors.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

inline constexpr int max_attempts = 5;
/// What a renewed lease ends after, at the latest.
inline constexpr std::chrono::seconds longest_lease{900};

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
  std::string owner_user_id = {};  ///< owner of the agent
  std::string document_id = {};
  std::string thread_id = {};
  std::string comment_id = {};
  std::string payload = {};  ///< JSON
  std::string status = {};
  std::int64_t attempt = 0;  ///< number of times it was claimed, less the leases that lapsed
  std::string lease_token_sha256 = {};
  std::optional<std::int64_t> lease_expires_at = {};
  std::int64_t created_at = 0;

  bool is_finished() const { return status != "queued" && status != "leased"; }
  bool is_held_with(std::string_view lease_token) const;
};

/// The event with its `lease_token`; null members if it is not leased.
Json to_json(const AgentEvent& event, std::string_view lease_token);

/// Queues an event for an agent and wakes pending claims; returns its id. Fails with `not_found` if there is no such
/// agent.
Result<std::string> queue_event(World& world, const NewEvent& event);

/// A lease that ended without complete, fail or renew.
struct ExpiredLease {
  std::string event_id = {};
  std::int64_t at = 0;
  bool dead = false;
};
/// Requeues the events of all expired leases, in order of time.
Result<std::vector<ExpiredLease>> expire_leases(World& world);

/// Call `expire_leases` first. Empty if there is none.
Result<std::optional<AgentEvent>> find_event(World& world, std::string_view id);
/// The oldest event of these agents that can be claimed now; empty if there is none.
Result<std::optional<AgentEvent>> oldest_claimable(World& world, std::span<const std::string> agent_ids);
/// The next time at which an event becomes available by itself (end of a delay or lease). Empty: never.
Result<std::optional<std::int64_t>> next_due(World& world, std::span<const std::string> agent_ids);

/// Leases the event to a worker and updates `event`. Returns the lease token.
Result<std::string> lease_event(World& world,
                                AgentEvent& event,
                                std::string_view worker_id,
                                std::chrono::seconds duration);
/// Extends the lease by `duration`, counted from its end or from now (switch `renew_from`), but not beyond
/// `longest_lease` from now. Never shortens it.
Result<void> extend_lease(World& world, AgentEvent& event, std::chrono::seconds duration);
Result<void> complete_event(World& world, AgentEvent& event, const Json& result);
enum class Retryable { no, yes };
Result<void> fail_event(World& world, AgentEvent& event, std::string_view error, Retryable retryable);

// Checks for calls that name an event: the caller's, and leased by the caller.

/// The agents whose events the caller may claim: itself, or all agents of the person. Paused and revoked agents are
/// left out; their events stay queued.
Result<std::vector<std::string>> agents_acting_for(World& world, const Caller& caller);

/// The event that the call names, leased under its `lease_token`. 404 if it is not the caller's, 409
/// `already_finished`, 409 `lease_lost` if it is not leased or by another worker. Expires leases first.
ApiResult<AgentEvent> leased_event(World& world, const ServiceCall& call);

/// The event that a reply cites; it must be leased as above. Returns its id; empty if the reply cites none.
ApiResult<std::string> cited_event(World& world, const ServiceCall& call);

}  // namespace ws::mock
