#include <set>

#include <catch2/catch.hpp>

#include "api-client/contract/operations.hpp"
#include "server-mock/services/events/event_queue.hpp"
#include "tests/server-mock/services/service_world.hpp"

namespace ws::mock::test {
namespace {

using std::chrono::seconds;

std::string ping(ServiceWorld& world, std::string_view agent_id, Json payload = Json::object()) {
  auto work = UnitOfWork::begin(*world.world);
  auto id = queue_event(*world.world, {.kind = "agent.ping", .agent_id = std::string(agent_id), .payload = payload});
  REQUIRE(id);
  REQUIRE(work->commit());
  return *id;
}

Outcome claim(ServiceWorld& world, const Caller& caller, Json more = Json::object()) {
  Json body = {{"worker_id", "w1"}};
  body.update(more);
  return world.call("events.claim", caller, std::move(body));
}

/// The event that a claim brings; null where it brings none.
Json claimed(ServiceWorld& world, const Caller& caller, Json more = Json::object()) {
  const Outcome outcome = claim(world, caller, std::move(more));
  REQUIRE(outcome.status == 200);
  CHECK(outcome.body.at("retry_after_seconds") == 5);
  return outcome.body.at("event");
}

Outcome act(ServiceWorld& world, const Caller& caller, std::string_view operation, const Json& event, Json more = {}) {
  Json body = {{"lease_token", event.at("lease_token")}};
  if (more.is_object()) body.update(more);
  return world.call(operation, caller, std::move(body), {{"event_id", event.at("id")}});
}

Outcome renew(ServiceWorld& world, const Caller& caller, const Json& event, std::int64_t lease_seconds = 300) {
  return act(world, caller, "events.renew", event, {{"lease_seconds", lease_seconds}});
}

Outcome complete(ServiceWorld& world, const Caller& caller, const Json& event) {
  return act(world, caller, "events.complete", event, {{"result", {{"done", true}}}});
}

Outcome fail_it(ServiceWorld& world, const Caller& caller, const Json& event, bool retryable = true) {
  return act(world, caller, "events.fail", event, {{"error", "no luck"}, {"retryable", retryable}});
}

std::string status_of(ServiceWorld& world, std::string_view id) {
  const auto event = find_event(*world.world, id);
  REQUIRE(event);
  return event->value().status;
}

/// The long poll of a claim that finds no event.
std::optional<LongPoll> long_poll(ServiceWorld& world, const Caller& caller, int wait_seconds) {
  const contract::Operation& operation = *contract::find_operation("events.claim");
  const Json body = {{"worker_id", "w1"}, {"lease_seconds", 300}, {"wait_seconds", wait_seconds}};
  const Json none = Json::object();
  const std::string base_url = "http://127.0.0.1:4711";
  const ServiceResult result = find_service(operation)(*world.world, {operation, caller, none, body, base_url});
  REQUIRE(result);
  CHECK(result->body->at("event").is_null());
  return result->long_poll;
}

Json add_agent(ServiceWorld& world, const Caller& owner, std::string_view handle) {
  const Outcome made = world.call("agents.create", owner, {{"handle", handle}, {"display_name", "Agent"}});
  REQUIRE(made.status == 201);
  return made.body.at("id");
}

}  // namespace

TEST_CASE("events: a mention queues an event with the comment and its place", "[server-mock]") {
  ServiceWorld world;
  const Outcome document =
      world.create_document(world.tomas, "Tides", "Text.", {{"project_id", world.built_in.project_id}});
  const Outcome thread =
      world.call("comments.add", world.tomas, {{"body", "@scout, when?"}}, {{"document_id", document.body.at("id")}});
  const Json event = claimed(world, world.agent, {{"lease_seconds", 30}});
  const Json& entry = thread.body.at("entries")[0];
  CHECK(event.at("kind") == "comment.mention");
  CHECK(event.at("workspace_id") == world.built_in.workspace_id);
  CHECK(event.at("agent_id") == world.built_in.agent_id);
  CHECK(event.at("document_id") == document.body.at("id"));
  CHECK(event.at("thread_id") == thread.body.at("id"));
  CHECK(event.at("comment_id") == entry.at("id"));
  CHECK(event.at("payload").at("body") == "@scout, when?");
  CHECK(event.at("payload").at("author").at("name") == "Tomás Okafor");
  CHECK(event.at("payload").at("conversation_thread_id") == entry.at("conversation_thread_id"));
  CHECK(event.at("attempt") == 1);
  CHECK(event.at("status") == "leased");
  CHECK(event.at("lease_token").get<std::string>().size() == 43);
  CHECK(event.at("lease_expires_at") == "2026-11-20T10:00:30.000Z");
}

TEST_CASE("events: of a document that is not visible any more no answer tells the title or a comment",
          "[server-mock]") {
  ServiceWorld world;
  const Json document =
      world.create_document(world.tomas, "Tides", "Text.", {{"project_id", world.built_in.project_id}}).body;
  world.call("comments.add", world.tomas, {{"body", "@scout, when?"}}, {{"document_id", document.at("id")}});
  const auto move = [&](const Json& parent) {
    const Json body = {{"parent_node_id", parent}};
    REQUIRE(world.call("nodes.move", world.tomas, body, {{"node_id", document.at("node_id")}}).status == 200);
  };
  move(nullptr);
  Json event = claimed(world, world.agent);
  CHECK(event.at("document_id") == document.at("id"));
  CHECK(event.at("payload") == Json::object());
  CHECK(renew(world, world.agent, event).body.at("payload") == Json::object());
  CHECK(fail_it(world, world.agent, event).body.at("payload") == Json::object());
  world.clock.time += seconds{5};
  event = claimed(world, world.agent);
  CHECK(complete(world, world.agent, event).body.at("payload") == Json::object());
  world.call("comments.add", world.tomas, {{"body", "@scout, hidden"}}, {{"document_id", document.at("id")}});
  CHECK(claimed(world, world.agent).is_null());
  move(world.built_in.project_node_id);
  world.call("comments.add", world.tomas, {{"body", "@scout, now?"}}, {{"document_id", document.at("id")}});
  CHECK(claimed(world, world.agent).at("payload").at("body") == "@scout, now?");
}

TEST_CASE("events: of many claims one gets the event, the others get the next or nothing", "[server-mock]") {
  ServiceWorld world;
  std::vector<std::string> made;
  for (int i = 0; i < 5; ++i) made.push_back(ping(world, world.built_in.agent_id, {{"n", i}}));
  std::vector<std::string> got;
  std::set<std::string> tokens;
  for (int worker = 0; worker < 12; ++worker) {
    // The agent and its owner stand at the same queue.
    const Json event =
        claimed(world, worker % 2 == 0 ? world.agent : world.mara, {{"worker_id", std::to_string(worker)}});
    if (event.is_null()) continue;
    got.push_back(event.at("id"));
    tokens.insert(event.at("lease_token").get<std::string>());
  }
  CHECK(got == made);
  CHECK(tokens.size() == 5);
}

TEST_CASE("events: a claim is the agent's own, or its owner's for all of the agents", "[server-mock]") {
  ServiceWorld world;
  const Json helper = add_agent(world, world.mara, "helper");
  const Json foreign = add_agent(world, world.tomas, "foreign");
  const std::string second = ping(world, helper.get<std::string>());
  const std::string third = ping(world, world.built_in.agent_id);
  const std::string other = ping(world, foreign.get<std::string>());

  Caller as_helper = world.agent;
  as_helper.agent_id = helper;
  CHECK(claimed(world, world.agent).at("id") == third);
  CHECK(claimed(world, world.agent).is_null());
  const Json mine = claimed(world, world.mara);
  CHECK(mine.at("id") == second);
  CHECK(claimed(world, world.mara).is_null());

  // Held by the owner: the agent itself may finish it with the token, nobody else finds it.
  CHECK(renew(world, world.agent, mine).status == 404);
  CHECK(renew(world, world.tomas, mine).status == 404);
  CHECK(complete(world, as_helper, mine).status == 200);
  CHECK(claimed(world, world.tomas).at("id") == other);
}

TEST_CASE("events: a Workspace key claims only events of its Workspace, a paused agent's stay queued",
          "[server-mock]") {
  ServiceWorld world;
  ping(world, world.built_in.agent_id);
  Caller elsewhere = world.mara;
  elsewhere.audience = Audience::workspace;
  elsewhere.workspace_id = world.built_in.other_workspace_id;
  CHECK(claimed(world, elsewhere).is_null());
  const auto set = [&](std::string_view status) {
    const Json where = {{"agent_id", world.built_in.agent_id}};
    REQUIRE(world.call("agents.update", world.mara, {{"status", status}}, where).status == 200);
  };
  set("paused");
  CHECK(claimed(world, world.mara).is_null());
  set("revoked");
  CHECK(claimed(world, world.mara).is_null());
  set("active");
  CHECK_FALSE(claimed(world, world.mara).is_null());
}

TEST_CASE("events: renewal extends the lease from its end, and never shortens it", "[server-mock]") {
  ServiceWorld world;
  ping(world, world.built_in.agent_id);
  const Json event = claimed(world, world.agent, {{"lease_seconds", 30}});
  world.clock.time += seconds(29);
  const auto end_after = [&](std::int64_t lease_seconds) {
    const Outcome renewed = renew(world, world.agent, event, lease_seconds);
    REQUIRE(renewed.status == 200);
    CHECK(renewed.body.at("lease_token") == event.at("lease_token"));
    return renewed.body.at("lease_expires_at").get<std::string>();
  };
  CHECK(end_after(60) == "2026-11-20T10:01:30.000Z");
  CHECK(end_after(300) == "2026-11-20T10:06:30.000Z");
  CHECK(end_after(900) == "2026-11-20T10:15:29.000Z");  // at most 900 s from now
  CHECK(end_after(30) == "2026-11-20T10:15:29.000Z");
  world.clock.time += seconds(899);
  CHECK(end_after(30) == "2026-11-20T10:15:59.000Z");
  world.clock.time += seconds(31);
  CHECK(renew(world, world.agent, event).code == "lease_lost");
}

TEST_CASE("events: with renew_from=now renewal counts from now, and does not shorten the lease either",
          "[server-mock]") {
  ServiceWorld world;
  REQUIRE(world.world->assumptions.set("renew_from", "now"));
  ping(world, world.built_in.agent_id);
  const Json event = claimed(world, world.agent, {{"lease_seconds", 900}});
  world.clock.time += seconds(30);
  CHECK(renew(world, world.agent, event, 30).body.at("lease_expires_at") == "2026-11-20T10:15:00.000Z");
  CHECK(renew(world, world.agent, event, 900).body.at("lease_expires_at") == "2026-11-20T10:15:30.000Z");
}

TEST_CASE("events: completion stores the result and finishes the event", "[server-mock]") {
  ServiceWorld world;
  const std::string id = ping(world, world.built_in.agent_id);
  const Json event = claimed(world, world.agent);
  const Outcome done = complete(world, world.agent, event);
  REQUIRE(done.status == 200);
  CHECK(done.body.at("status") == "completed");
  CHECK(done.body.at("lease_token").is_null());
  auto row = world.world->database.prepare("select result from agent_events");
  REQUIRE(*row->step());
  CHECK(row->text(0) == R"({"done":true})");
  CHECK(complete(world, world.agent, event).code == "already_finished");
  CHECK(renew(world, world.agent, event).code == "already_finished");
  CHECK(fail_it(world, world.agent, event).code == "already_finished");
  world.clock.time += std::chrono::hours(1);
  CHECK(claimed(world, world.agent).is_null());
}

TEST_CASE("events: a wrong lease token is 409 lease_lost", "[server-mock]") {
  ServiceWorld world;
  const std::string id = ping(world, world.built_in.agent_id);
  Json event = {{"id", id}, {"lease_token", "a token of at least twenty"}};
  CHECK(renew(world, world.agent, event).code == "lease_lost");
  const Json held = claimed(world, world.agent);
  CHECK(complete(world, world.agent, event).code == "lease_lost");
  CHECK(fail_it(world, world.agent, event, false).code == "lease_lost");
  CHECK(complete(world, world.agent, held).status == 200);
  event["id"] = "00000000-0000-7000-8000-000000000000";
  CHECK(complete(world, world.agent, event).status == 404);
}

TEST_CASE("events: retryable failures requeue after 5, 10, 20, 40 s, the fifth is final", "[server-mock]") {
  ServiceWorld world;
  const std::string id = ping(world, world.built_in.agent_id);
  for (const int delay : {5, 10, 20, 40}) {
    const Json event = claimed(world, world.agent, {{"lease_seconds", 30}});
    REQUIRE_FALSE(event.is_null());
    CHECK(fail_it(world, world.agent, event).body.at("status") == "queued");
    world.clock.time += seconds(delay) - std::chrono::milliseconds(1);
    CHECK(claimed(world, world.agent).is_null());
    world.clock.time += std::chrono::milliseconds(1);
  }
  const Json last = claimed(world, world.agent, {{"lease_seconds", 30}});
  CHECK(last.at("attempt") == 5);
  CHECK(fail_it(world, world.agent, last).body.at("status") == "dead");
  CHECK(status_of(world, id) == "dead");
  CHECK(complete(world, world.agent, last).code == "already_finished");
  world.clock.time += std::chrono::hours(24);
  CHECK(claimed(world, world.agent).is_null());
}

TEST_CASE("events: a lease that lapses returns the event at once and is no attempt, the hundredth is final",
          "[server-mock]") {
  ServiceWorld world;
  const std::string id = ping(world, world.built_in.agent_id);
  for (int lapses = 0; lapses < 100; ++lapses) {
    const Json event = claimed(world, world.agent, {{"lease_seconds", 30}});
    REQUIRE_FALSE(event.is_null());
    CHECK(event.at("attempt") == 1);
    world.clock.time += seconds(30);
    const Outcome late = renew(world, world.agent, event);
    CHECK(late.code == (lapses < 99 ? "lease_lost" : "already_finished"));
  }
  CHECK(claimed(world, world.agent).is_null());
  CHECK(status_of(world, id) == "dead");
}

TEST_CASE("events: a final failure is not tried again", "[server-mock]") {
  ServiceWorld world;
  const std::string id = ping(world, world.built_in.agent_id);
  const Json event = claimed(world, world.agent);
  CHECK(fail_it(world, world.agent, event, false).body.at("status") == "failed");
  world.clock.time += std::chrono::hours(1);
  CHECK(claimed(world, world.agent).is_null());
  CHECK(fail_it(world, world.agent, event).code == "already_finished");
}

TEST_CASE("events: after an expired lease the next claim is the same attempt", "[server-mock]") {
  ServiceWorld world;
  const std::string id = ping(world, world.built_in.agent_id);
  claimed(world, world.agent, {{"lease_seconds", 30}});
  world.clock.time += seconds(35);
  const Json again = claimed(world, world.mara);
  CHECK(again.at("id") == id);
  CHECK(again.at("attempt") == 1);
}

TEST_CASE("events: a delayed event does not block later ones", "[server-mock]") {
  ServiceWorld world;
  const std::string first = ping(world, world.built_in.agent_id);
  const std::string second = ping(world, world.built_in.agent_id);
  fail_it(world, world.agent, claimed(world, world.agent));
  CHECK(claimed(world, world.agent).at("id") == second);
  const std::string third = ping(world, world.built_in.agent_id);
  world.clock.time += seconds(5);
  CHECK(claimed(world, world.agent).at("id") == first);
  CHECK(claimed(world, world.agent).at("id") == third);
}

TEST_CASE("events: expire_leases returns expired leases in order of time", "[server-mock]") {
  ServiceWorld world;
  const std::string first = ping(world, world.built_in.agent_id);
  const std::string second = ping(world, world.built_in.agent_id);
  claimed(world, world.agent, {{"lease_seconds", 60}});
  claimed(world, world.agent, {{"lease_seconds", 30}});
  const std::int64_t start = world.world->now();
  world.clock.time += seconds(90);
  const auto lapses = expire_leases(*world.world);
  REQUIRE(lapses);
  REQUIRE(lapses->size() == 2);
  CHECK((*lapses)[0].event_id == second);
  CHECK((*lapses)[0].at == start + 30'000);
  CHECK((*lapses)[1].event_id == first);
  CHECK_FALSE((*lapses)[1].dead);
}

TEST_CASE("events: a reply that cites an event needs its lease", "[server-mock]") {
  ServiceWorld world;
  const Outcome document =
      world.create_document(world.mara, "Tides", "Text.", {{"project_id", world.built_in.project_id}});
  const Json where = {{"document_id", document.body.at("id")}};
  const Outcome thread = world.call("comments.add", world.mara, {{"body", "@scout?"}}, where);
  const Json event = claimed(world, world.agent, {{"lease_seconds", 30}});
  Json in_thread = where;
  in_thread["thread_id"] = thread.body.at("id");
  const auto reply = [&](const Caller& caller, const Json& id, const Json& token) {
    const Json body = {{"body", "Here"}, {"source_event_id", id}, {"source_event_lease_token", token}};
    return world.call("comments.reply", caller, body, in_thread);
  };
  CHECK(reply(world.agent, event.at("id"), event.at("lease_token")).status == 201);
  CHECK(reply(world.mara, event.at("id"), event.at("lease_token")).status == 201);
  CHECK(reply(world.agent, event.at("id"), "a token of at least twenty").code == "lease_lost");
  CHECK(reply(world.agent, event.at("id"), nullptr).code == "lease_lost");
  CHECK(reply(world.tomas, event.at("id"), event.at("lease_token")).status == 404);
  CHECK(reply(world.agent, nullptr, nullptr).status == 201);
  world.clock.time += seconds(30);
  CHECK(reply(world.agent, event.at("id"), event.at("lease_token")).code == "lease_lost");
  const Outcome listed = world.call("comments.list", world.mara, nullptr, where);
  CHECK(listed.body.at("threads")[0].at("entries").size() == 4);
}

TEST_CASE("events: a long poll names its queue, its timeout and the next due time", "[server-mock]") {
  ServiceWorld world;
  CHECK_FALSE(long_poll(world, world.agent, 0));
  const auto idle = long_poll(world, world.agent, 30);
  REQUIRE(idle);
  CHECK(idle->timeout == seconds(30));
  CHECK(idle->agent_id == world.built_in.agent_id);
  CHECK_FALSE(idle->retry_at);

  ping(world, world.built_in.agent_id);
  const Json event = claimed(world, world.agent, {{"lease_seconds", 30}});
  const std::int64_t now = world.world->now();
  CHECK(long_poll(world, world.agent, 10)->retry_at == now + 30'000);
  fail_it(world, world.agent, event);
  CHECK(long_poll(world, world.mara, 10)->retry_at == now + 5'000);
  CHECK(long_poll(world, world.mara, 10)->agent_id.empty());
  CHECK_FALSE(long_poll(world, world.tomas, 10)->retry_at);
}

TEST_CASE("events: every queued or requeued event notifies pending claims", "[server-mock]") {
  ServiceWorld world;
  std::vector<std::string> woken;
  world.world->on_queue_change = [&](const QueueChange& wake) {
    CHECK(wake.owner_user_id == world.built_in.user_id);
    woken.push_back(wake.agent_id);
  };
  ping(world, world.built_in.agent_id);
  CHECK(woken.size() == 1);
  const Json event = claimed(world, world.agent, {{"lease_seconds", 30}});
  CHECK(woken.size() == 1);
  fail_it(world, world.agent, event);
  CHECK(woken.size() == 2);
  CHECK(woken.back() == world.built_in.agent_id);
}

TEST_CASE("events: a claim updates the agent's last_seen_at, to the minute", "[server-mock]") {
  ServiceWorld world;
  const auto seen = [&] {
    const Outcome listed = world.call("agents.list", world.mara, nullptr, {{"include_revoked", false}});
    return listed.body.at("data")[0].at("last_seen_at");
  };
  claimed(world, world.mara);
  CHECK(seen().is_null());
  claimed(world, world.agent);
  CHECK(seen() == "2026-11-20T10:00:00.000Z");
  world.clock.time += seconds(59);
  claimed(world, world.agent);
  CHECK(seen() == "2026-11-20T10:00:00.000Z");
  world.clock.time += seconds(1);
  claimed(world, world.agent);
  CHECK(seen() == "2026-11-20T10:01:00.000Z");
}

}  // namespace ws::mock::test
