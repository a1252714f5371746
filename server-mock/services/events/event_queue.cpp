#include "server-mock/services/events/event_queue.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

constexpr int max_lapses = 100;

/// Delay before the event can be claimed again, after attempt number `attempt` (from 1) failed.
std::chrono::seconds retry_delay(std::int64_t attempt) {
  return std::chrono::seconds(5) * (std::int64_t{1} << std::clamp<std::int64_t>(attempt - 1, 0, max_attempts - 2));
}

std::int64_t milliseconds(std::chrono::seconds duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

#define WS_EVENT_QUERY                                                                                           \
  "select e.id, e.kind, e.workspace_id, e.agent_id, a.owner_user_id, e.document_id, e.thread_id, e.comment_id, " \
  "e.payload, e.status, e.attempt, e.lease_token_sha256, e.lease_expires_at, e.created_at, e.sequence "          \
  "from agent_events e join agents a on a.id = e.agent_id where "

void wake(World& world, const AgentEvent& event) {
  if (!world.on_queue_change) return;
  world.on_queue_change(
      {.agent_id = event.agent_id, .owner_user_id = event.owner_user_id, .workspace_id = event.workspace_id});
}

/// Ends the lease and sets the new status. `error` null: unchanged.
Result<void> release(World& world, AgentEvent& event, std::string_view status, std::optional<std::string_view> error) {
  event.status = status;
  event.lease_token_sha256.clear();
  event.lease_expires_at.reset();
  return put(world,
             "update agent_events set status = ?, lease_token_sha256 = '', lease_expires_at = null, "
             "error = coalesce(?, error) where id = ?",
             event.status,
             error,
             event.id);
}

Result<void> finish(World& world, const AgentEvent& event, std::int64_t at) {
  return put(world, "update agent_events set finished_at = ? where id = ?", at, event.id);
}

Result<void> end_lease_at(World& world, AgentEvent& event, std::int64_t at) {
  event.lease_expires_at = at;
  return put(world, "update agent_events set lease_expires_at = ? where id = ?", at, event.id);
}

/// Requeues the event after an attempt that failed at `at`, or marks it dead.
Result<void> hand_back(World& world, AgentEvent& event, std::int64_t at, std::optional<std::string_view> error) {
  if (event.attempt >= max_attempts) {
    WS_TRY(release(world, event, "dead", error));
    return finish(world, event, at);
  }
  WS_TRY(release(world, event, "queued", error));
  WS_TRY(put(world,
             "update agent_events set available_at = ? where id = ?",
             at + milliseconds(retry_delay(event.attempt)),
             event.id));
  wake(world, event);
  return {};
}

/// Requeues an event whose lease ended at `at`: at once, and the claim was no attempt.
Result<void> requeue_lapsed(World& world, AgentEvent& event, std::int64_t at) {
  --event.attempt;
  WS_TRY(put(world,
             "update agent_events set attempt = ?, lapses = lapses + 1, available_at = ? where id = ?",
             event.attempt,
             at,
             event.id));
  WS_LET(const bool is_dead,
         has_row(world, "select 1 from agent_events where id = ? and lapses >= ?", event.id, max_lapses));
  WS_TRY(release(world, event, is_dead ? "dead" : "queued", "the lease expired"));
  if (is_dead) return finish(world, event, at);
  wake(world, event);
  return {};
}

Result<std::vector<AgentEvent>> lapsed_events(World& world) {
  return read_rows(world,
                   read_as<AgentEvent>,
                   WS_EVENT_QUERY
                   "e.status = 'leased' and e.lease_expires_at <= ? "
                   "order by e.lease_expires_at, e.sequence",
                   world.now());
}

}  // namespace

bool AgentEvent::is_held_with(std::string_view lease_token) const {
  return status == "leased" && lease_token_sha256 == Sha256::of(lease_token).hex();
}

Json to_json(const AgentEvent& event, std::string_view lease_token) {
  const bool held = event.lease_expires_at.has_value();
  return {{"id", event.id},
          {"kind", event.kind},
          {"workspace_id", event.workspace_id},
          {"agent_id", event.agent_id},
          {"document_id", text_or_null(event.document_id)},
          {"thread_id", text_or_null(event.thread_id)},
          {"comment_id", text_or_null(event.comment_id)},
          {"payload", parse_bounded(event.payload).value_or(Json::object())},
          {"attempt", event.attempt},
          {"status", event.status},
          {"lease_token", held ? Json(lease_token) : Json(nullptr)},
          {"lease_expires_at", held ? Json(rfc3339(*event.lease_expires_at)) : Json(nullptr)},
          {"created_at", rfc3339(event.created_at)}};
}

Result<std::string> queue_event(World& world, const NewEvent& event) {
  std::string id = world.ids.uuid("event");
  WS_TRY(put(world,
             "insert into agent_events (id, workspace_id, agent_id, kind, document_id, thread_id, "
             "comment_id, payload, available_at, created_at) "
             "select ?1, workspace_id, id, ?3, ?4, ?5, ?6, ?7, ?8, ?8 from agents where id = ?2",
             id,
             event.agent_id,
             event.kind,
             event.document_id,
             event.thread_id,
             event.comment_id,
             dump(event.payload),
             world.now()));
  WS_LET(const std::optional<AgentEvent> made, find_event(world, id));
  if (!made) return fail(Failure::Kind::not_found, fmt::format("there is no agent {}", event.agent_id));
  wake(world, *made);
  return id;
}

Result<std::vector<ExpiredLease>> expire_leases(World& world) {
  WS_LET(std::vector<AgentEvent> events, lapsed_events(world));
  std::vector<ExpiredLease> lapses;
  for (AgentEvent& event : events) {
    const std::int64_t at = event.lease_expires_at.value_or(world.now());
    WS_TRY(requeue_lapsed(world, event, at));
    lapses.push_back({.event_id = event.id, .at = at, .dead = event.status == "dead"});
  }
  return lapses;
}

Result<std::optional<AgentEvent>> find_event(World& world, std::string_view id) {
  return read_row(world, read_as<AgentEvent>, WS_EVENT_QUERY "e.id = ?", id);
}

Result<std::optional<AgentEvent>> oldest_claimable(World& world, std::span<const std::string> agent_ids) {
  std::optional<AgentEvent> oldest;
  std::int64_t oldest_sequence = 0;
  for (const std::string& agent_id : agent_ids) {
    WS_LET(const sqlite::CachedStatement row,
           world.database.cached(WS_EVENT_QUERY "e.agent_id = ? and e.status = 'queued' and e.available_at <= ? "
                                                "order by e.sequence limit 1"));
    row->bind_all(agent_id, world.now());
    WS_LET(const bool found, row->step());
    if (!found || (oldest && row->integer(14) > oldest_sequence)) continue;
    oldest_sequence = row->integer(14);
    oldest = read_as<AgentEvent>(*row);
  }
  return oldest;
}

Result<std::optional<std::int64_t>> next_due(World& world, std::span<const std::string> agent_ids) {
  std::optional<std::int64_t> due;
  constexpr const char* queries[] = {
      "select min(available_at) from agent_events where agent_id = ? and status = 'queued'",
      "select min(lease_expires_at) from agent_events where agent_id = ? and status = 'leased'"};
  for (const std::string& agent_id : agent_ids) {
    for (const char* query : queries) {
      const auto read = [](const sqlite::Statement& row) { return row.optional_integer(0); };
      WS_LET(const auto at, read_row(world, read, query, agent_id));
      if (at && *at && (!due || **at < *due)) due = *at;
    }
  }
  return due;
}

Result<std::string> lease_event(World& world,
                                AgentEvent& event,
                                std::string_view worker_id,
                                std::chrono::seconds duration) {
  std::string token = world.ids.code("lease_token");
  ++event.attempt;
  event.status = "leased";
  event.lease_token_sha256 = Sha256::of(token).hex();
  WS_TRY(put(world,
             "update agent_events set status = 'leased', attempt = ?, worker_id = ?, "
             "lease_token_sha256 = ? where id = ?",
             event.attempt,
             worker_id,
             event.lease_token_sha256,
             event.id));
  WS_TRY(end_lease_at(world, event, world.now() + milliseconds(duration)));
  return token;
}

Result<void> extend_lease(World& world, AgentEvent& event, std::chrono::seconds duration) {
  const std::int64_t now = world.now();
  const std::int64_t end = event.lease_expires_at.value_or(now);
  const std::int64_t from = world.assumptions.is("renew_from", "now") ? now : end;
  const std::int64_t wanted = std::min(from + milliseconds(duration), now + milliseconds(longest_lease));
  return end_lease_at(world, event, std::max(end, wanted));
}

Result<void> complete_event(World& world, AgentEvent& event, const Json& result) {
  WS_TRY(release(world, event, "completed", std::nullopt));
  WS_TRY(put(world, "update agent_events set result = ? where id = ?", dump(result), event.id));
  return finish(world, event, world.now());
}

Result<void> fail_event(World& world, AgentEvent& event, std::string_view error, Retryable retryable) {
  if (retryable == Retryable::yes) return hand_back(world, event, world.now(), error);
  WS_TRY(release(world, event, "failed", error));
  return finish(world, event, world.now());
}

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
