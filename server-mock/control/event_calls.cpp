// Control calls about agent events.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/control/calls.hpp"
#include "server-mock/control/who.hpp"
#include "server-mock/services/event_queue.hpp"
#include "server-mock/services/refuse.hpp"

namespace ws::mock::control {
namespace {

// `decisions.md`, "event"; anything else is a kind too, so that a worker can be shown one that it does not know.
constexpr std::string_view usual_kind = "agent.ping";

}  // namespace

ServiceResult create_event(Call& call) {
  World& world = *call.sandbox.world;
  const Json body = call.body.is_null() ? Json::object() : call.body;
  std::string word = call.sandbox.built_in.agent_id;
  for (const char* name : {"agent", "agent_id", "handle", "agent_handle"}) word = find_text(body, name).value_or(word);
  WS_SERVE_LET(const std::optional<FoundAgent> agent, find_agent(world, word));
  if (!agent) return not_found("agent");
  const auto text = [&](std::string_view name) { return find_text(body, name).value_or(""); };
  const std::string kind = find_text(body, "kind").value_or(std::string(usual_kind));
  const Json* payload = find(body, "payload");
  WS_SERVE_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_SERVE_LET(const std::string id,
               queue_event(world,
                           {.kind = kind,
                            .agent_id = agent->id,
                            .document_id = text("document_id"),
                            .thread_id = text("thread_id"),
                            .comment_id = text("comment_id"),
                            .payload = payload != nullptr && payload->is_object() ? *payload : Json::object()}));
  WS_SERVE_LET(const std::optional<AgentEvent> event, find_event(world, id));
  WS_SERVE(work.commit());
  return Answer{.status = 201, .body = to_json(*event, {})};
}

}  // namespace ws::mock::control
