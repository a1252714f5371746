/// Checks for calls that name an event: the caller's, and leased by the caller.
#pragma once

#include <string>
#include <vector>

#include "server-mock/services/events/event_queue.hpp"
#include "server-mock/services/shared/errors.hpp"

namespace ws::mock {

/// The agents whose events the caller may claim: itself, or all agents of the person. Paused and revoked agents are
/// left out; their events stay queued.
Result<std::vector<std::string>> agents_acting_for(World& world, const Caller& caller);

/// The event that the call names, leased under its `lease_token`. 404 if it is not the caller's, 409
/// `already_finished`, 409 `lease_lost` if it is not leased or by another worker. Expires leases first.
ApiResult<AgentEvent> leased_event(World& world, const ServiceCall& call);

/// The event that a reply cites; it must be leased as above. Returns its id; empty if the reply cites none.
ApiResult<std::string> cited_event(World& world, const ServiceCall& call);

}  // namespace ws::mock
