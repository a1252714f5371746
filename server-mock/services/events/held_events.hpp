/// Whose an event is, and who holds it: the checks that every call makes which names one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server-mock/services/events/event_queue.hpp"
#include "server-mock/services/shared/refuse.hpp"

namespace ws::mock {

/// The agents whose events the caller may claim: itself, or every one of the person's. Those that are paused or revoked
/// keep their events.
Result<std::vector<std::string>> agents_acting_for(World& world, const Caller& caller);

/// The event that the call names, held under its `lease_token`: 404 where it is not the caller's, 409
/// `already_finished`, 409 `lease_lost` where another worker holds it or none does. Settles leases first.
Served<AgentEvent> held_event(World& world, const ServiceCall& call);

/// A reply that cites an event holds it: 404 and 409 `lease_lost` as above. The id of the event; empty: none is cited.
Served<std::string> cited_event(World& world, const ServiceCall& call);

}  // namespace ws::mock
