#include "server-mock/services/events/leased_events.hpp"

#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

Unexpected lease_lost() {
  return conflict("lease_lost", "The lease of the event has expired, or another worker holds it");
}

ApiResult<AgentEvent> own_event(World& world, const ServiceCall& call, std::string_view id) {
  WS_API_TRY(expire_leases(world));
  WS_API_LET(std::optional<AgentEvent> event, find_event(world, id));
  if (!event) return not_found("event");
  const Caller& caller = call.caller;
  WS_API_LET(const contract::Role role, role_in(world, caller, event->workspace_id));
  const bool own =
      caller.agent_id.empty() ? event->owner_user_id == caller.owner_user_id : event->agent_id == caller.agent_id;
  if (role == contract::Role::none || !own) return not_found("event");
  return std::move(*event);
}

}  // namespace

Result<std::vector<std::string>> agents_acting_for(World& world, const Caller& caller) {
  return read_rows(world,
                   read_text,
                   "select a.id from agents a "
                   "join members m on m.workspace_id = a.workspace_id and m.user_id = a.owner_user_id "
                   "where a.owner_user_id = ?1 and a.status = 'active' and (?2 = '' or a.id = ?2) "
                   "and (?3 = '' or a.workspace_id = ?3) order by a.id",
                   caller.owner_user_id,
                   caller.agent_id,
                   bound_workspace(caller));
}

ApiResult<AgentEvent> leased_event(World& world, const ServiceCall& call) {
  WS_API_LET(AgentEvent event, own_event(world, call, id_of(call.parameters, "event_id")));
  if (event.is_finished()) return conflict("already_finished", "The event was completed or has failed for good");
  if (!event.is_held_with(text_of(call.body, "lease_token"))) return lease_lost();
  return event;
}

ApiResult<std::string> cited_event(World& world, const ServiceCall& call) {
  const std::string id = id_of(call.body, "source_event_id");
  if (id.empty()) return id;
  WS_API_LET(const AgentEvent event, own_event(world, call, id));
  if (!event.is_held_with(text_of(call.body, "source_event_lease_token"))) return lease_lost();
  return id;
}

}  // namespace ws::mock
