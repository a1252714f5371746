#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/reference/run.hpp"

namespace ws::mock::test {
namespace {

constexpr std::int64_t one_second = 1000;

std::string comments_of(const std::string& document_id) { return "/v1/documents/" + document_id + "/comments"; }

}  // namespace

void Run::compare(const Json& thread, const ModelThread& wanted) {
  same(thread.at("page_id"), wanted.document_id, "page_id");
  same(thread.at("status"), wanted.status, "status");
  const bool needs_reanchor = wanted.quote_lost || wanted.status == "needs_reanchor";
  same(thread.at("anchor").at("needs_reanchor"), needs_reanchor, "anchor.needs_reanchor");
  if (!wanted.quote.empty()) same(thread.at("anchor").at("selection_preview"), wanted.quote, "selection_preview");
  std::vector<std::string> bodies;
  for (const Json& entry : thread.at("entries")) bodies.push_back(entry.at("body"));
  same(Json(bodies), Json(wanted.bodies), "the entries");
}

void Run::add_comment() {
  const Actor& actor = any_actor();
  const std::string id = any_document();
  const char* names[] = {"@scout ", "@helper ", "@scout @helper ", "@nobody ", "", ""};
  const std::string body = names[chance(std::size(names))] + fresh("comment ");
  Json request = {{"body", body}};
  std::string quote;
  if (const auto found = model_.documents.find(id); found != model_.documents.end() && one_in(2)) {
    const std::size_t start = found->second.content.find("quoted");
    if (start != std::string::npos) {
      quote = found->second.content.substr(start, found->second.content.find(' ', start) - start) + " text";
      if (found->second.content.find(quote) == std::string::npos) quote.clear();
    }
  }
  if (!quote.empty()) request["selection"] = {{"quote", quote}};
  const Expected expected = model_.comment(actor, id);
  const Json thread = agree(send(actor, "POST", comments_of(id), request), expected);
  if (!expected.is_success()) return;
  const std::string thread_id = thread.at("id");
  model_.commented(actor, {.id = thread_id, .document_id = id, .quote = quote}, body);
  compare(thread, model_.threads[thread_id]);
  same(thread.at("entries").at(0).at("author_kind"), actor.is_agent() ? "agent" : "user", "author_kind");
}

void Run::reply() {
  if (model_.threads.empty()) return add_comment();
  const Actor& actor = any_actor();
  auto thread = model_.threads.begin();
  std::advance(thread, static_cast<std::ptrdiff_t>(chance(model_.threads.size())));
  const std::string id = one_in(15) ? any_document() : thread->second.document_id;
  const std::string body = (one_in(3) ? "@scout " : "") + fresh("reply ");
  Json request = {{"body", body}};
  Expected expected = model_.reply(actor, id, thread->first);
  // A reply to an event requires its lease.
  if (!model_.events.empty() && !tokens_.empty() && one_in(3)) {
    const ModelEvent& event = model_.events[chance(model_.events.size())];
    const std::string token =
        one_in(2) && !event.lease_token.empty() ? event.lease_token : tokens_[chance(tokens_.size())];
    if (!event.id.empty()) {
      request["source_event_id"] = event.id;
      request["source_event_lease_token"] = token;
      if (expected.is_success() || expected.code == "archived") {
        const Expected held = model_.hold(actor, event.id, token);
        if (!held.is_success()) expected = held.status == 409 ? Expected{409, "lease_lost"} : held;
      }
    }
  }
  const std::string target = comments_of(id) + "/" + thread->first + "/replies";
  const Json answer = agree(send(actor, "POST", target, request), expected);
  if (!expected.is_success()) return;
  model_.replied(actor, thread->first, body);
  compare(answer, thread->second);
}

void Run::set_status() {
  if (model_.threads.empty()) return;
  const Actor& actor = any_actor();
  auto thread = model_.threads.begin();
  std::advance(thread, static_cast<std::ptrdiff_t>(chance(model_.threads.size())));
  const char* statuses[] = {"open", "resolved", "needs_reanchor"};
  const std::string status = statuses[chance(3)];
  const std::string& id = thread->second.document_id;
  const Expected expected = model_.set_status(actor, id, thread->first, status);
  const std::string target = comments_of(id) + "/" + thread->first + "/status";
  const Json answer = agree(send(actor, "POST", target, {{"status", status}}), expected);
  if (expected.is_success()) compare(answer, thread->second);
}

void Run::list_comments() {
  const Actor& actor = any_actor();
  const std::string id = any_document();
  const Expected expected = model_.read(actor, id);
  const Json listing = agree(send(actor, "GET", comments_of(id)), expected);
  if (!expected.is_success()) return;
  std::map<std::string, std::int64_t> counts = {{"open", 0}, {"resolved", 0}, {"needs_reanchor", 0}};
  std::int64_t threads = 0;
  for (const auto& [thread_id, thread] : model_.threads) {
    if (thread.document_id != id) continue;
    ++threads;
    ++counts[thread.status];
    const Json& shown = listing.at("threads");
    const auto found = std::ranges::find_if(shown, [&](const Json& each) { return each.at("id") == thread_id; });
    if (found == shown.end()) differ("thread " + thread_id + " is not listed");
    compare(*found, thread);
  }
  same(listing.at("threads").size(), threads, "how many threads");
  same(listing.at("thread_count"), threads, "thread_count");
  for (const auto& [status, count] : counts) same(listing.at(status + "_count"), count, status + "_count");
}

void Run::claim() {
  const Actor& actor = any_actor();
  const std::int64_t lease = 30 + static_cast<std::int64_t>(chance(60));
  ModelEvent* wanted = model_.claimable(actor);
  const Json body = {{"worker_id", actor.name}, {"lease_seconds", lease}};
  const Json answer = agree(send(actor, "POST", "/v1/agent-events:claim", body), {200});
  if (wanted == nullptr) return same(answer.at("event"), nullptr, "event");
  if (answer.at("event").is_null()) differ("no event, though a " + wanted->kind + " waits");
  const Json& event = answer.at("event");
  if (!wanted->id.empty()) same(event.at("id"), wanted->id, "id");
  wanted->id = event.at("id");
  wanted->state = "leased";
  wanted->lease_token = event.at("lease_token");
  wanted->lease_ends = model_.now + lease * one_second;
  ++wanted->attempt;
  tokens_.push_back(wanted->lease_token);
  same(event.at("kind"), wanted->kind, "kind");
  same(event.at("agent_id"), wanted->agent_id, "agent_id");
  same(event.at("document_id"), wanted->document_id, "document_id");
  same(event.at("thread_id"), wanted->thread_id.empty() ? Json(nullptr) : Json(wanted->thread_id), "thread_id");
  same(event.at("attempt"), wanted->attempt, "attempt");
}

void Run::finish_event() {
  if (tokens_.empty()) return claim();
  const Actor& actor = any_actor();
  std::vector<ModelEvent*> known;
  for (ModelEvent& event : model_.events) {
    if (!event.id.empty()) known.push_back(&event);
  }
  ModelEvent& event = *known[known.size() - 1 - chance(std::min<std::size_t>(known.size(), 6))];
  const bool right = !event.lease_token.empty() && !one_in(5);
  const std::string token = right ? event.lease_token : tokens_[chance(tokens_.size())];
  const Expected expected = model_.hold(actor, event.id, token);
  const std::string target = "/v1/agent-events/" + event.id;
  switch (chance(4)) {
    case 0: {
      agree(send(actor, "POST", target + ":renew", {{"lease_token", token}, {"lease_seconds", 45}}), expected);
      if (expected.is_success()) Model::renew(event, model_.now, 45);
      break;
    }
    case 1: {
      agree(send(actor, "POST", target + ":complete", {{"lease_token", token}, {"result", {{"n", 1}}}}), expected);
      if (expected.is_success()) event.state = "completed";
      break;
    }
    default: {
      const bool retryable = !one_in(4);
      const Json body = {{"lease_token", token}, {"error", "broke"}, {"retryable", retryable}};
      agree(send(actor, "POST", target + ":fail", body), expected);
      if (!expected.is_success()) break;
      if (retryable) {
        Model::hand_back(event, model_.now);
      } else {
        event.state = "failed";
      }
    }
  }
  if (expected.is_success() && event.state != "leased") event.lease_token.clear();
}

void Run::advance() {
  const std::int64_t steps[] = {1, 4, 5, 10, 29, 31, 60, 100, 26 * 3600};
  const std::int64_t seconds = steps[one_in(12) ? 8 : chance(8)];
  trace_.push_back("the clock goes on by " + std::to_string(seconds) + " s");
  wire_.advance(static_cast<int>(seconds));
  model_.advance(seconds * one_second);
}

/// The old secret is invalid at once, the new one works, and nothing else changes.
void Run::rotate() {
  for (Actor& agent : actors_) {
    if (!agent.is_agent() || one_in(2)) continue;
    const Actor old = agent;
    agent.token =
        agree(send(actors_[0], "POST", "/v1/agents/" + agent.agent_id + "/credentials:rotate"), {200}).at("secret");
    agree(send(old, "GET", "/v1/me"), {401, "revoked_credential"});
    same(agree(send(agent, "GET", "/v1/me"), {200}).at("agent").at("id"), agent.agent_id, "agent.id");
  }
}

}  // namespace ws::mock::test
