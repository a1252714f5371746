// The worker's leases, with ones that are short enough to see them renewed and lost.
#include "cli/commands/event_worker.hpp"

#include <atomic>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
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

/// One event, and a service that answers its lease as the test wants.
struct Stage {
  std::function<Script(const Seen&)> on_lease = [](const Seen&) { return answer(200, "{}"); };
  std::atomic<int> claims{0};
  HostileServer server{[this](const Seen& seen) {
    if (seen.target != "/v1/agent-events:claim") return on_lease(seen);
    if (++claims > 1) return answer(403, "{}");
    return answer(200,
                  dump(Json{{"event", {{"id", some_id}, {"kind", "agent.ping"}, {"lease_token", std::string(20, 'l')}}},
                            {"retry_after_seconds", 0}}));
  }};
  SystemClock clock;
  SeededRandom random{1};
  std::unique_ptr<http::Transport> transport = *http::make_curl_transport();
  Client client{
      *transport, clock, random, {.base_url = server.origin(), .credential = Credential{secret_key, server.origin()}}};
  TemporaryFolder folder;
  std::vector<WorkDone> done = {};
  std::vector<std::string> notes = {};

  void work(const std::string& script) {
    EventWorker worker(client,
                       {.worker_id = "w",
                        .command = {"sh", "-c", script},
                        .lease = std::chrono::seconds{3},
                        .environment = {{"FOLDER", folder.path().string()}}},
                       {.done = [this](const WorkDone& one) { done.push_back(one); },
                        .note = [this](const std::string& text) { notes.push_back(text); },
                        .must_stop = [] { return false; }});
    CHECK_FALSE(worker.run());  // ends because the second claim is forbidden
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

TEST_CASE("worker: a lease is renewed at a third of it, and the event completed under it", "[cli]") {
  Stage stage;
  stage.work("sleep 1.3; echo '{\"a\": 1}'");
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
