// Comments and the events that they create: `decisions.md`, "comments" and "event".
#include <algorithm>

#include "tests/reference/model.hpp"

namespace ws::mock::test {
namespace {

constexpr std::int64_t second = 1000;
constexpr int max_attempts = 5;
constexpr std::int64_t longest_lease = 900 * second;

}  // namespace

Expected Model::comment(const Actor& actor, const std::string& document_id) const {
  if (!actor.may_write_comments()) return {403, "missing_scope"};
  if (actor.rank < Rank::commenter) return {403, "insufficient_role"};
  const ModelDocument* document = seen(actor, document_id);
  if (document == nullptr) return {404, "not_found"};
  if (level(actor, *document) < Level::comment) return {403, "forbidden"};
  if (document->archived) return {409, "archived"};
  return {201};
}

Expected Model::reply(const Actor& actor, const std::string& document_id, const std::string& thread_id) const {
  const Expected answer = comment(actor, document_id);
  // All that the call names is looked up before the state of the document.
  if (!answer.is_success() && answer.code != "archived") return answer;
  const auto thread = threads.find(thread_id);
  if (thread == threads.end() || thread->second.document_id != document_id) return {404, "not_found"};
  return answer;
}

void Model::commented(const Actor& actor, ModelThread thread, const std::string& body) {
  const ModelThread& kept = threads[thread.id] = std::move(thread);
  replied(actor, kept.id, body);
}

void Model::replied(const Actor& actor, const std::string& thread_id, const std::string& body) {
  ModelThread& thread = threads[thread_id];
  thread.bodies.push_back(body);
  queue_events(actor, thread, body);
  if (actor.is_agent()) thread.agents.insert(actor.agent_id);
}

/// A mentioned agent gets a mention; otherwise an agent that wrote in the thread gets a reply. No agent gets an event
/// about its own comment or about a document that it may not read.
void Model::queue_events(const Actor& actor, const ModelThread& thread, const std::string& body) {
  const ModelDocument& document = documents[thread.document_id];
  std::vector<ModelEvent> mentions;
  std::vector<ModelEvent> replies;
  for (const auto& [id, agent] : agents) {
    const Actor reader = {
        .user_id = agent.owner, .agent_id = id, .workspace_id = agent.workspace_id, .rank = agent.owner_rank};
    if (id == actor.agent_id || level(reader, document) == Level::none) continue;
    const bool mentioned = body.find("@" + agent.handle + " ") != std::string::npos;
    if (!mentioned && !thread.agents.contains(id)) continue;
    (mentioned ? mentions : replies)
        .push_back({.agent_id = id,
                    .kind = mentioned ? "comment.mention" : "comment.reply",
                    .document_id = document.id,
                    .thread_id = thread.id,
                    .available_at = now});
  }
  // There is at most one event for each agent, so the order between agents cannot be observed.
  events.insert(events.end(), mentions.begin(), mentions.end());
  events.insert(events.end(), replies.begin(), replies.end());
}

Expected Model::set_status(const Actor& actor,
                           const std::string& document_id,
                           const std::string& thread_id,
                           const std::string& status) {
  Expected answer = reply(actor, document_id, thread_id);
  if (!answer.is_success()) return answer;
  ModelThread& thread = threads[thread_id];
  thread.status = status == "open" && thread.quote_lost ? "needs_reanchor" : status;
  return {200};
}

void Model::hand_back(ModelEvent& event, std::int64_t at) {
  event.lease_token.clear();
  if (event.attempt >= max_attempts) {
    event.state = "dead";
    return;
  }
  event.state = "queued";
  event.available_at = at + 5 * second * (std::int64_t{1} << (event.attempt - 1));
}

void Model::renew(ModelEvent& event, std::int64_t now, std::int64_t lease_seconds) {
  const std::int64_t wanted = std::min(event.lease_ends + lease_seconds * second, now + longest_lease);
  event.lease_ends = std::max(event.lease_ends, wanted);
}

void Model::advance(std::int64_t milliseconds) {
  now += milliseconds;
  for (ModelEvent& event : events) {
    if (event.state != "leased" || event.lease_ends > now) continue;
    event.state = "queued";
    event.lease_token.clear();
    event.available_at = event.lease_ends;
    --event.attempt;
  }
}

ModelEvent* Model::claimable(const Actor& actor) {
  for (ModelEvent& event : events) {
    const ModelAgent& agent = agents.at(event.agent_id);
    const bool own = actor.is_agent() ? actor.agent_id == agent.id
                                      : actor.user_id == agent.owner && actor.workspace_id == agent.workspace_id;
    if (own && event.state == "queued" && event.available_at <= now) return &event;
  }
  return nullptr;
}

ModelEvent* Model::find_event(const std::string& id) {
  const auto found = std::ranges::find(events, id, &ModelEvent::id);
  return found == events.end() ? nullptr : &*found;
}

Expected Model::hold(const Actor& actor, const std::string& event_id, const std::string& token) const {
  const auto event = std::ranges::find(events, event_id, &ModelEvent::id);
  if (event == events.end()) return {404, "not_found"};
  const ModelAgent& agent = agents.at(event->agent_id);
  const bool own = actor.is_agent() ? actor.agent_id == agent.id
                                    : actor.user_id == agent.owner && actor.workspace_id == agent.workspace_id;
  if (!own) return {404, "not_found"};
  if (event->state != "queued" && event->state != "leased") return {409, "already_finished"};
  if (event->state != "leased" || event->lease_token != token) return {409, "lease_lost"};
  return {200};
}

}  // namespace ws::mock::test
