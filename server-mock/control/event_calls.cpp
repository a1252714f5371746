// Control calls for agent events.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations/fields.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/services/events/event_queue.hpp"
#include "server-mock/services/shared/errors.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock::control {
namespace {

using contract::nullable;
using contract::optional;

constexpr contract::Field event_fields[] = {
    optional("agent", contract::string(1, 100)),
    optional("agent_id", contract::string(1, 100)),
    optional("handle", contract::string(1, 100)),
    optional("agent_handle", contract::string(1, 100)),
    optional("kind", contract::string(1, 100)),
    nullable(optional("payload", contract::free_object())),
    nullable(optional("document_id", contract::uuid())),
    nullable(optional("thread_id", contract::uuid())),
    nullable(optional("comment_id", contract::uuid())),
};
constexpr contract::Schema event_body = {.name = "NewEvent", .fields = event_fields};

// `decisions.md`, "event". Other kinds are accepted too, to test a worker with a kind that it does not know.
constexpr std::string_view usual_kind = "agent.ping";

/// What an event may name, and the table that has it.
struct Named {
  const char* member;
  const char* table;
  const char* select;
};
constexpr Named named[] = {
    {"document_id", "documents", "select 1 from documents where id = ?1"},
    {"thread_id", "comment_threads", "select 1 from comment_threads where id = ?1"},
    {"comment_id", "comment_entries", "select 1 from comment_entries where id = ?1"},
};

/// `{agent, kind?, payload?, document_id?, thread_id?, comment_id?}`; the agent by id or handle.
ServiceResult create_event(Call& call) {
  World& world = *call.sandbox.world;
  const Json body = call.body.is_null() ? Json::object() : call.body;
  std::string word = call.sandbox.built_in.agent_id;
  for (const char* name : {"agent", "agent_id", "handle", "agent_handle"}) word = find_text(body, name).value_or(word);
  WS_API_LET(const std::optional<FoundAgent> agent, find_agent(world, word));
  if (!agent) return not_found("agent");
  const auto text = [&](std::string_view name) { return find_text(body, name).value_or(""); };
  for (const auto& [member, table, select] : named) {
    if (text(member).empty()) continue;
    WS_API_LET(const bool is_there, has_row(world, select, text(member)));
    if (!is_there) {
      return invalid("body", member, "value_error", fmt::format("{} has no row with this id", table), text(member));
    }
  }
  const std::string kind = find_text(body, "kind").value_or(std::string(usual_kind));
  const Json* payload = find(body, "payload");
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(const std::string id,
             queue_event(world,
                         {.kind = kind,
                          .agent_id = agent->id,
                          .document_id = text("document_id"),
                          .thread_id = text("thread_id"),
                          .comment_id = text("comment_id"),
                          .payload = payload != nullptr && payload->is_object() ? *payload : Json::object()}));
  WS_API_LET(const std::optional<AgentEvent> event, find_event(world, id));
  WS_API_TRY(work.commit());
  return Answer{.status = 201, .body = to_json(*event, {})};
}

}  // namespace

CallTable event_calls() {
  static constexpr CallEntry entries[] = {
      {"POST", "/_mock/events", "put an event into an agent's queue", create_event, members(event_body)},
  };
  return entries;
}

}  // namespace ws::mock::control
