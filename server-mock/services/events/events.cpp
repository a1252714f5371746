#include <nlohmann/json.hpp>

#include "server-mock/services/events/event_queue.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

constexpr std::int64_t seen_every_ms = 60'000;
constexpr std::int64_t retry_after_seconds = 5;  // API document, "Agent event claim response"

std::chrono::seconds seconds_of(const ServiceCall& call, std::string_view name, std::int64_t fallback) {
  return std::chrono::seconds(integer_of(call.body, name, fallback));
}

Answer claim_answer(Json event) {
  return {.body = Json{{"event", std::move(event)}, {"retry_after_seconds", retry_after_seconds}}};
}

/// The event as the caller may see it now: without its payload if the document is no longer visible.
ApiResult<Json> shown(World& world, const ServiceCall& call, AgentEvent event, std::string_view lease_token) {
  if (!event.document_id.empty()) {
    WS_API_LET(const bool is_visible, is_visible_document(world, call, event.document_id));
    if (!is_visible) event.payload = "{}";
  }
  return to_json(event, lease_token);
}

/// The answer if there is no event; with `wait_seconds` the call may wait for one.
ApiResult<Answer> nothing_yet(World& world, const ServiceCall& call, const std::vector<std::string>& agents) {
  Answer answer = claim_answer(nullptr);
  const std::chrono::seconds wait = seconds_of(call, "wait_seconds", 0);
  if (wait.count() <= 0) return answer;
  WS_API_LET(const std::optional<std::int64_t> due, next_due(world, agents));
  const bool one_workspace = call.caller.audience == Audience::workspace;
  answer.long_poll = LongPoll{.timeout = wait,
                              .agent_id = call.caller.agent_id,
                              .owner_user_id = call.caller.owner_user_id,
                              .workspace_id = one_workspace ? call.caller.workspace_id : std::string(),
                              .retry_at = due};
  return answer;
}

/// Sets `last_seen_at` of a calling agent, rounded to minutes so that not every call writes. Does nothing for people.
Result<void> update_last_seen(World& world, const Caller& caller) {
  if (caller.agent_id.empty()) return {};
  return put(world,
             "update agents set last_seen_at = ?1 where id = ?2 "
             "and (last_seen_at is null or last_seen_at <= ?1 - ?3)",
             world.now(),
             caller.agent_id,
             seen_every_ms);
}

ServiceResult claim_agent_event(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_TRY(expire_leases(world));
  WS_API_TRY(update_last_seen(world, call.caller));
  WS_API_LET(const std::vector<std::string> agents, agents_acting_for(world, call.caller));
  WS_API_LET(std::optional<AgentEvent> event, oldest_claimable(world, agents));
  if (!event) {
    WS_API_LET(Answer nothing, nothing_yet(world, call, agents));
    WS_API_TRY(work.commit());
    return nothing;
  }
  WS_API_LET(const std::string token,
             lease_event(world, *event, text_of(call.body, "worker_id"), seconds_of(call, "lease_seconds", 300)));
  WS_API_LET(Json body, shown(world, call, std::move(*event), token));
  WS_API_TRY(work.commit());
  return claim_answer(std::move(body));
}

ServiceResult renew_agent_event(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(AgentEvent event, leased_event(world, call));
  WS_API_TRY(extend_lease(world, event, seconds_of(call, "lease_seconds", 300)));
  WS_API_LET(Json body, shown(world, call, std::move(event), text_of(call.body, "lease_token")));
  WS_API_TRY(work.commit());
  return Answer{.body = std::move(body)};
}

ServiceResult complete_agent_event(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(AgentEvent event, leased_event(world, call));
  const Json* result = find(call.body, "result");
  WS_API_TRY(complete_event(world, event, result != nullptr ? *result : Json::object()));
  WS_API_LET(Json body, shown(world, call, std::move(event), {}));
  WS_API_TRY(work.commit());
  return Answer{.body = std::move(body)};
}

ServiceResult fail_agent_event(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(AgentEvent event, leased_event(world, call));
  const bool retryable = find_bool(call.body, "retryable").value_or(true);
  WS_API_TRY(fail_event(world, event, text_of(call.body, "error"), retryable ? Retryable::yes : Retryable::no));
  WS_API_LET(Json body, shown(world, call, std::move(event), {}));
  WS_API_TRY(work.commit());
  return Answer{.body = std::move(body)};
}

}  // namespace

ServiceTable event_services() {
  static constexpr ServiceEntry entries[] = {
      {"events.claim", claim_agent_event},
      {"events.renew", renew_agent_event},
      {"events.complete", complete_agent_event},
      {"events.fail", fail_agent_event},
  };
  return entries;
}

}  // namespace ws::mock
