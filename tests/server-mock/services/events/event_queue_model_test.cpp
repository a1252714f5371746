// The event queue against a model: random pings, claims, renewals, ends and clock advances, each with its expected
// answer.
#include <algorithm>
#include <optional>

#include <catch2/catch.hpp>

#include "api-client/base/random.hpp"
#include "server-mock/services/events/event_queue.hpp"
#include "tests/server-mock/services/service_world.hpp"

namespace ws::mock::test {
namespace {

struct Modelled {
  std::string id = {};
  std::string agent_id = {};
  std::string status = "queued";
  int attempt = 0;
  std::int64_t available_at = 0;
  std::int64_t lease_ends_at = 0;
  std::string token = {};  // of the last lease
};

class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {
    const Json body = {{"handle", "helper"}, {"display_name", "Helper"}, {"permissions", {"read"}}};
    helper_ = world_.agent;
    helper_.agent_id = world_.call("agents.create", world_.mara, body).body.at("id");
  }

  void step() {
    settle();
    switch (random_.below(8)) {
      case 0: return ping();
      case 1:
      case 2:
      case 3: return claim();
      case 4: return renew();
      case 5: return end("events.complete", {{"result", Json::object()}}, "completed");
      case 6: {
        const bool retryable = random_.below(4) > 0;
        return end("events.fail", {{"error", "no"}, {"retryable", retryable}}, retryable ? "" : "failed");
      }
      default: world_.clock.time += std::chrono::milliseconds(random_.below(25'000));
    }
  }
  std::size_t dead() const { return static_cast<std::size_t>(std::ranges::count(events_, "dead", &Modelled::status)); }
  std::size_t done() const {
    return static_cast<std::size_t>(std::ranges::count(events_, "completed", &Modelled::status));
  }

 private:
  std::int64_t now() const { return world_.world->now(); }

  static void give_back(Modelled& event, std::int64_t at) {
    constexpr std::int64_t delays[] = {5'000, 10'000, 20'000, 40'000};
    event.status = event.attempt == 5 ? "dead" : "queued";
    if (event.attempt < 5) event.available_at = at + delays[event.attempt - 1];
  }

  void settle() {
    for (Modelled& event : events_) {
      if (event.status != "leased" || event.lease_ends_at > now()) continue;
      event.status = "queued";
      event.available_at = event.lease_ends_at;
      --event.attempt;
    }
  }

  void ping() {
    const std::string agent_id = random_.below(2) == 0 ? helper_.agent_id : world_.agent.agent_id;
    const auto id = queue_event(*world_.world, {.kind = "agent.ping", .agent_id = agent_id, .payload = Json::object()});
    REQUIRE(id);
    events_.push_back({.id = *id, .agent_id = agent_id, .available_at = now()});
  }

  void claim() {
    const std::uint64_t who = random_.below(3);
    const Caller& caller = who == 0 ? world_.mara : who == 1 ? world_.agent : helper_;
    const auto seconds = static_cast<std::int64_t>(30 + random_.below(20));
    const Outcome got = world_.call("events.claim", caller, {{"worker_id", "w"}, {"lease_seconds", seconds}});
    const auto expected = std::ranges::find_if(events_, [&](const Modelled& event) {
      return event.status == "queued" && event.available_at <= now() && (who == 0 || event.agent_id == caller.agent_id);
    });
    if (expected == events_.end()) {
      REQUIRE(got.body.at("event").is_null());
      return;
    }
    REQUIRE(got.body.at("event").is_object());
    const Json& event = got.body.at("event");
    REQUIRE(event.at("id") == expected->id);
    REQUIRE(event.at("attempt") == ++expected->attempt);
    expected->status = "leased";
    expected->lease_ends_at = now() + seconds * 1000;
    expected->token = event.at("lease_token");
  }

  /// The call with an event's last token, and what it must come to.
  struct Tried {
    Modelled* event = nullptr;
    Outcome outcome = {};
  };
  std::optional<Tried> act(std::string_view operation, Json body) {
    std::vector<Modelled*> held;
    std::vector<Modelled*> claimed;
    for (Modelled& event : events_) {
      if (event.status == "leased") held.push_back(&event);
      if (!event.token.empty()) claimed.push_back(&event);
    }
    if (claimed.empty()) return std::nullopt;
    const std::vector<Modelled*>& some = held.empty() || random_.below(3) == 0 ? claimed : held;
    Modelled& event = *some[random_.below(some.size())];
    body["lease_token"] = event.token;
    Tried tried = {.event = &event,
                   .outcome = world_.call(operation, world_.mara, std::move(body), {{"event_id", event.id}})};
    if (event.status == "leased") {
      REQUIRE(tried.outcome.status == 200);
      return tried;
    }
    REQUIRE(tried.outcome.status == 409);
    REQUIRE(tried.outcome.code == (event.status == "queued" ? "lease_lost" : "already_finished"));
    return std::nullopt;
  }

  void renew() {
    const auto seconds = static_cast<std::int64_t>(30 + random_.below(60));
    if (const auto tried = act("events.renew", {{"lease_seconds", seconds}})) {
      std::int64_t& end = tried->event->lease_ends_at;
      end = std::max(end, std::min(end + seconds * 1000, now() + 900'000));
    }
  }

  /// `status` empty: given back.
  void end(std::string_view operation, Json body, std::string_view status) {
    const auto tried = act(operation, std::move(body));
    if (!tried) return;
    if (status.empty()) {
      give_back(*tried->event, now());
    } else {
      tried->event->status = status;
    }
    REQUIRE(tried->outcome.body.at("status") == tried->event->status);
  }

  ServiceWorld world_ = ServiceWorld();
  SeededRandom random_;
  Caller helper_ = {};
  std::vector<Modelled> events_ = {};
};

}  // namespace

TEST_CASE("events: the queue agrees with its model under random calls", "[server-mock]") {
  const auto seed = GENERATE(range<std::uint64_t>(1, 9));
  CAPTURE(seed);
  Model model(seed);
  for (int i = 0; i < 6000; ++i) model.step();
  CHECK(model.done() > 10);
  CHECK(model.dead() > 0);
}

}  // namespace ws::mock::test
