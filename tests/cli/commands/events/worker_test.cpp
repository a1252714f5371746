// The worker's leases, with ones that are short enough to see them renewed and lost.
#include "cli/commands/events/worker.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/http/curl.hpp"
#include "tests/support/client_world.hpp"
#include "tests/support/hostile_server.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/two_people.hpp"

using namespace ws;
using namespace ws::cli;
using namespace ws::test;

namespace {

/// A client of the server.
struct Caller {
  SystemClock clock;
  SeededRandom random{1};
  std::unique_ptr<http::Transport> transport = *http::make_curl_transport();
  Client client;

  explicit Caller(const HostileServer& server)
      : client(*transport,
               clock,
               random,
               {.base_url = server.origin(), .credential = Credential{secret_key, server.origin()}}) {}
};

/// The answer to a claim that gives an event of this number.
Script event_given(std::size_t number) {
  const Json event = {{"id", fmt::format("00000000-0000-4000-8000-{:012}", number)},
                      {"kind", "agent.ping"},
                      {"lease_token", std::string(20, 'l')}};
  return answer(200, dump(Json{{"event", event}, {"retry_after_seconds", 0}}));
}

/// One event, and a service that answers its lease as the test wants.
struct Stage {
  std::function<Script(const Seen&)> on_lease = [](const Seen&) { return answer(200, "{}"); };
  Json event = {{"id", some_id}, {"kind", "agent.ping"}, {"lease_token", std::string(20, 'l')}};
  std::atomic<int> claims{0};
  HostileServer server{[this](const Seen& seen) {
    if (seen.target != "/v1/agent-events:claim") return on_lease(seen);
    if (++claims > 1) return answer(403, "{}");
    return answer(
        200, dump(Json{{"event", event}, {"retry_after_seconds", 0}}), {{"Date", "Fri, 20 Nov 2026 00:00:00 GMT"}});
  }};
  Caller caller{server};
  TemporaryFolder folder;
  std::vector<WorkDone> done = {};
  std::vector<std::string> notes = {};

  Failure work(const std::string& script, std::chrono::seconds lease = std::chrono::seconds{3}, bool once = false) {
    EventWorker worker(caller.client,
                       {.worker_id = "w",
                        .command = {"sh", "-c", script},
                        .lease = lease,
                        .once = once,
                        .environment = {{"FOLDER", folder.path().string()}}},
                       {.done = [this](const WorkDone& one) { done.push_back(one); },
                        .note = [this](const std::string& text) { notes.push_back(text); },
                        .must_stop = [] { return false; }});
    const auto ended = worker.run();  // because the second claim is forbidden, or with `once` as the event did
    REQUIRE_FALSE(ended);
    return ended.error();
  }
  std::vector<std::string> verbs() const {
    std::vector<std::string> found;
    for (const Seen& seen : server.requests()) found.push_back(seen.target.substr(seen.target.rfind(':') + 1));
    return found;
  }
};

bool holds(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

TEST_CASE("worker: a lease is renewed when half is left, and the event completed under it", "[cli]") {
  Stage stage;
  stage.work("sleep 2; echo '{\"a\": 1}'");
  const auto verbs = stage.verbs();
  CHECK(std::ranges::count(verbs, "renew") == 1);
  REQUIRE(stage.done.size() == 1);
  CHECK(stage.done.front().outcome == WorkDone::Outcome::completed);
  for (const Seen& seen : stage.server.requests()) {
    if (!seen.target.ends_with(":complete")) continue;
    CHECK(*parse_bounded(seen.body) == Json{{"result", {{"a", 1}}}, {"lease_token", std::string(20, 'l')}});
  }
}

TEST_CASE("worker: an event whose lease is lost is left alone, and its command ended", "[cli]") {
  Stage stage;
  stage.on_lease = [](const Seen&) { return answer(409, R"({"detail":"x","code":"lease_lost"})"); };
  const auto began = std::chrono::steady_clock::now();
  stage.work("trap 'echo ended > $FOLDER/ended; exit 1' TERM; for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & wait; done");
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{6});
  CHECK(read_text(stage.folder / "ended") == "ended\n");
  REQUIRE(stage.done.size() == 1);
  CHECK(stage.done.front().outcome == WorkDone::Outcome::lost);
  const auto verbs = stage.verbs();
  CHECK_FALSE(holds(verbs, "complete"));
  CHECK_FALSE(holds(verbs, "fail"));
}

TEST_CASE("worker: of one event alone, the lost lease is the failure of the command", "[cli]") {
  Stage stage;
  stage.on_lease = [](const Seen&) { return answer(409, R"({"detail":"x","code":"lease_lost"})"); };
  const Failure failure = stage.work("sleep 60", std::chrono::seconds{3}, true);
  CHECK(failure.kind == Failure::Kind::conflict);
  CHECK(failure.code == "lease_lost");
}

TEST_CASE("worker: a completion whose answer is lost is sent again until it is known", "[cli]") {
  Stage stage;
  std::atomic<int> tries{0};
  stage.on_lease = [&](const Seen&) { return ++tries < 3 ? Script{CloseConnection{}} : answer(200, "{}"); };
  stage.work("echo ok");
  CHECK(tries == 3);
  REQUIRE(stage.done.size() == 1);
  CHECK(stage.done.front().outcome == WorkDone::Outcome::completed);
}

TEST_CASE("worker: a result that the service refuses fails the event for good", "[cli]") {
  Stage stage;
  stage.on_lease = [](const Seen& seen) {
    return seen.target.ends_with(":complete") ? answer(413, R"({"detail":"too large"})") : answer(200, "{}");
  };
  stage.work("echo ok");
  REQUIRE(stage.done.size() == 1);
  CHECK(stage.done.front().outcome == WorkDone::Outcome::failed);
  CHECK(stage.verbs() == std::vector<std::string>{"claim", "complete", "fail", "claim"});
}

TEST_CASE("worker: output that is not UTF-8 and an end of stderr that is too long still make a request", "[cli]") {
  Stage stage;
  SECTION("output") { stage.work("printf 'a\\377b'"); }
  SECTION("stderr") { stage.work("head -c 100000 /dev/zero | tr '\\0' 'e' >&2; exit 1"); }
  REQUIRE(stage.done.size() == 1);
  CHECK(stage.done.front().outcome != WorkDone::Outcome::lost);
  for (const Seen& seen : stage.server.requests()) {
    if (seen.target.ends_with(":fail")) CHECK((*parse_bounded(seen.body))["error"].get<std::string>().size() == 4000);
  }
}

TEST_CASE("worker: a lease that is granted for less is renewed when half of that is left", "[cli]") {
  Stage stage;
  // By the service's own clock, which is not ours.
  stage.event["lease_expires_at"] = "2026-11-20T00:00:01.500Z";
  stage.on_lease = [&stage](const Seen& seen) {
    if (seen.target.ends_with(":renew")) write_text(stage.folder / "renewed", "");
    return answer(200, "{}");
  };
  stage.work("i=0; while [ ! -e \"$FOLDER/renewed\" ] && [ $i -lt 250 ]; do sleep 0.02; i=$((i+1)); done",
             std::chrono::seconds{300});
  CHECK(holds(stage.verbs(), "renew"));
  REQUIRE(stage.done.size() == 1);
  CHECK(stage.done.front().outcome == WorkDone::Outcome::completed);
}

TEST_CASE("lease: it holds as long as was asked for or until it expires, by the clock that says so", "[cli]") {
  using std::chrono::seconds;
  const Time now = *parse_rfc3339("2026-11-20T12:00:00Z");
  const auto granted = [&](Json answer, http::Headers headers = {}) {
    return granted_lease({.headers = std::move(headers), .json = std::move(answer)}, seconds{300}, now);
  };
  const Json expiring = {{"lease_expires_at", "2026-11-20T12:00:30Z"}};
  CHECK(granted(expiring) == seconds{30});
  CHECK(granted(Json{{"event", expiring}}) == seconds{30});
  CHECK(granted(expiring, {{"Date", "Fri, 20 Nov 2026 12:00:20 GMT"}}) == seconds{10});
  CHECK(granted(expiring, {{"Date", "Fri, 20 Nov 2026 13:00:00 GMT"}}) == seconds{300});
  CHECK(granted(expiring, {{"Date", "yesterday"}}) == seconds{30});
  CHECK(granted(Json{{"lease_expires_at", "2026-11-20T13:00:00Z"}}) == seconds{300});
  CHECK(granted(Json{{"lease_expires_at", nullptr}, {"event", nullptr}}) == seconds{300});
  CHECK(granted(Json::object()) == seconds{300});
  // Renewed: from its end, or from now, as the service says.
  const auto renewed = [&](const char* end) {
    return granted_lease({.json = Json{{"lease_expires_at", end}}}, seconds{60}, now, seconds{30});
  };
  CHECK(renewed("2026-11-20T12:01:30Z") == seconds{90});
  CHECK(renewed("2026-11-20T12:01:00Z") == seconds{60});
  CHECK(renewed("2026-11-20T13:00:00Z") == seconds{90});
}

TEST_CASE("worker: a service that counts a lost lease as an attempt is told in the log", "[cli]") {
  Stage stage;
  std::atomic<std::size_t> claims{0};
  HostileServer server{[&](const Seen& seen) {
    if (!seen.target.ends_with(":claim")) return answer(409, R"({"detail":"x","code":"lease_lost"})");
    if (++claims > 2) return answer(403, "{}");
    stage.event["attempt"] = claims.load();
    return answer(200, dump(Json{{"event", stage.event}, {"retry_after_seconds", 0}}));
  }};
  Caller caller{server};
  EventWorker worker(caller.client,
                     {.worker_id = "w", .command = {"sh", "-c", "sleep 5"}, .lease = std::chrono::seconds{1}},
                     {.done = [](const WorkDone&) {},
                      .note = [&](const std::string& text) { stage.notes.push_back(text); },
                      .must_stop = [] { return false; }});
  CHECK_FALSE(worker.run());
  const std::string told =
      std::string("the service counts an expired lease as an attempt: event ") + some_id + " is at attempt 2";
  CHECK(holds(stage.notes, told));
}

TEST_CASE("worker: an event that cannot be held is said, and the queue left alone for a while", "[cli]") {
  Stage stage;
  stage.event.erase("lease_token");
  stage.work("true");
  CHECK(stage.claims.load() == 2);
  REQUIRE(stage.notes.size() == 1);
  CHECK(stage.notes.front().find("no id or no lease token, so it cannot be processed; asking again in 1 s") !=
        std::string::npos);
}

TEST_CASE("worker: an event that an unanswered completion finished is completed", "[cli]") {
  std::atomic<int> completions{0};
  Stage stage;
  stage.on_lease = [&](const Seen&) {
    if (++completions == 1) return Script{CloseConnection{}};
    return answer(409, R"({"detail": "It is finished.", "code": "already_finished"})");
  };
  stage.work("true");
  REQUIRE(stage.done.size() == 1);
  CHECK(stage.done.front().outcome == WorkDone::Outcome::completed);
  CHECK(completions.load() == 2);
}

TEST_CASE("worker: claims run beside the one that waits, and never more than there are free hands", "[cli]") {
  constexpr std::size_t jobs = 4;
  constexpr std::size_t events = 24;
  std::atomic<std::size_t> waits{0};
  std::atomic<std::size_t> given{0};
  std::atomic<std::size_t> held{0};
  std::atomic<std::size_t> most_held{0};
  std::atomic<std::size_t> empty{0};
  HostileServer server{[&](const Seen& seen) {
    if (!seen.target.ends_with(":claim")) {
      --held;
      return answer(200, "{}");
    }
    // The second one that waits is never answered: all further events have to come beside it.
    const bool is_waiting = *find_integer(*parse_bounded(seen.body), "wait_seconds") > 0;
    if (is_waiting && ++waits > 1) return Script{Hold{}};
    if (given == events) {
      ++empty;
      return answer(200, R"({"event": null, "retry_after_seconds": 5})");
    }
    most_held = std::max(most_held.load(), ++held + (waits > 1 ? 1 : 0));
    return event_given(++given);
  }};
  Caller caller{server};
  std::set<std::string> done;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  EventWorker worker(
      caller.client,
      {.worker_id = "w", .command = {"true"}, .jobs = jobs},
      {.done = [&](const WorkDone& one) { CHECK(done.insert(one.event_id).second); },
       .note = [](const std::string&) {},
       .must_stop = [&] { return (done.size() == events && empty > 0) || std::chrono::steady_clock::now() > end; }});
  CHECK(worker.run());
  CHECK(done.size() == events);
  CHECK(waits == 2);
  CHECK(most_held == jobs);
  CHECK(empty < jobs);
}

TEST_CASE("worker: claims that fail together are told once, and one asks again", "[cli]") {
  std::atomic<std::size_t> claims{0};
  HostileServer server{[&](const Seen& seen) {
    if (!seen.target.ends_with(":claim")) return answer(200, "{}");
    const std::size_t number = ++claims;
    if (number > 3) return Script{CloseConnection{}};
    return event_given(number);
  }};
  Caller caller{server};
  std::vector<std::string> notes;
  std::size_t done = 0;
  EventWorker worker(caller.client,
                     {.worker_id = "w", .command = {"true"}, .jobs = 8},
                     {.done = [&](const WorkDone&) { ++done; },
                      .note = [&](const std::string& text) { notes.push_back(text); },
                      .must_stop = [&] { return done == 3 && !notes.empty(); }});
  CHECK(worker.run());
  CHECK(notes.size() == 1);
  CHECK(notes.front().find("asking again in 1 s") != std::string::npos);
}

TEST_CASE("worker: a command inherits nothing but its three streams", "[cli]") {
  Stage stage;
  stage.work("ls -l /proc/self/fd > \"$FOLDER/files\"");
  const std::string files = read_text(stage.folder / "files");
  CHECK(files.find(" 0 -> ") != std::string::npos);
  CHECK(files.find("socket:") == std::string::npos);
}
