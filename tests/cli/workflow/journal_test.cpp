// Creates that are cut off by a crash or a lost answer, between the real `ws` and the real mock.
#include <atomic>
#include <csignal>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/sqlite.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/support/relay.hpp"

using namespace ws;
using namespace ws::test;

namespace {

struct JournalStage {
  MockProcess server;
  std::atomic<bool> swallows{true};  ///< answers to creates get lost
  Relay relay{server, [this](const Seen& seen, const Forward& forward) -> Script {
                Script passed = forward();
                if (seen.method != "POST" || !swallows) return passed;
                return Script{Hold{}};
              }};
  Person person{server};
  JournalStage() { person.environment["WS_BASE_URL"] = relay.origin(); }

  std::vector<std::string> create(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"docs", "create", "Once only", "-F", "content=secret words", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  /// How many documents of that title there are.
  std::size_t count() const {
    std::size_t found = 0;
    const Json list = parse(body_of(server, "/v1/documents?limit=100"));
    for (const Json& one : list["data"]) {
      if (one["title"] == "Once only") ++found;
    }
    return found;
  }
  /// Ends `ws` by SIGKILL as soon as the server has done what it asked for.
  void killed_after_sending(std::vector<std::string> arguments) {
    Running running(person.command(std::move(arguments)));
    while (relay.server().requests().empty() || count() == 0) {
    }
    running.signal(SIGKILL);
    CHECK(running.wait().exit == 128 + SIGKILL);
  }
};

}  // namespace

TEST_CASE("journal: killed right after sending, then run again with `stable`: one object", "[cli]") {
  JournalStage stage;
  const bool was_stable = GENERATE(false, true);
  const std::vector<std::string> stable = {"--idempotency-key", "stable"};
  stage.killed_after_sending(stage.create(was_stable ? stable : std::vector<std::string>()));
  CHECK(stage.count() == 1);
  stage.swallows = false;
  const Ended again = stage.person.ws(stage.create(stable));
  INFO(again.err);
  REQUIRE(again.exit == 0);
  CHECK(text_at(parse(again.out), "title") == "Once only");
  CHECK(stage.count() == 1);
  // The same wish once more is the same object; a new wish is not.
  CHECK(stage.person.ws(stage.create(stable)).out == again.out);
  CHECK(stage.count() == 1);
  CHECK(stage.person.ws(stage.create()).exit == 0);
  CHECK(stage.count() == 2);
}

TEST_CASE("journal: killed right after sending, then simply run again: one object", "[cli]") {
  JournalStage stage;
  stage.killed_after_sending(stage.create());
  stage.swallows = false;
  CHECK(stage.person.ws(stage.create()).exit == 0);
  CHECK(stage.count() == 1);
  CHECK(stage.person.ws(stage.create()).exit == 0);
  CHECK(stage.count() == 2);
}

TEST_CASE("journal: an unknown outcome names what to run, and that completes it", "[cli]") {
  JournalStage stage;
  const Ended lost = stage.person.ws(stage.create({"--timeout", "1", "--no-retry"}));
  CHECK(lost.exit == 12);
  const Json error = error_of(lost);
  CHECK(error["applied"] == "unknown");
  CHECK(error["hint"].get<std::string>().find("`ws docs list`") != std::string::npos);
  const std::string key = error["idempotency_key"];
  CHECK(error["hint"].get<std::string>().find("--idempotency-key " + key) != std::string::npos);
  stage.swallows = false;
  const Ended named = stage.person.ws(stage.create({"--idempotency-key", key}));
  CHECK(named.exit == 0);
  CHECK(stage.person.ws(stage.create({"--idempotency-key", key})).out == named.out);
  CHECK(stage.count() == 1);
}

TEST_CASE("journal: two processes with the same stable wish make one object", "[cli]") {
  JournalStage stage;
  stage.swallows = false;
  const auto wish = stage.create({"--idempotency-key", "stable"});
  Running first(stage.person.command(wish));
  Running second(stage.person.command(wish));
  const Ended one = first.wait();
  const Ended other = second.wait();
  CHECK(one.exit == 0);
  CHECK(other.exit == 0);
  CHECK(one.out == other.out);
  CHECK(stage.count() == 1);
}

TEST_CASE("journal: after a day nobody can tell, and it says so instead of guessing", "[cli]") {
  JournalStage stage;
  stage.killed_after_sending(stage.create());
  stage.swallows = false;
  auto database = sqlite::Database::open((stage.person.home() / "STATE" / "ws" / "idempotency.db").string());
  REQUIRE(database);
  REQUIRE(database->execute("update creates set begun_at = begun_at - 25 * 3600 * 1000"));
  const Ended late = stage.person.ws(stage.create({"--idempotency-key", "stable"}));
  CHECK(late.exit == 12);
  CHECK(error_of(late)["applied"] == "unknown");
  CHECK(error_of(late)["hint"].get<std::string>().find("`ws docs list`") != std::string::npos);
  CHECK(stage.count() == 1);
  CHECK(stage.person.ws(stage.create({"--idempotency-key", "mine"})).exit == 0);
  CHECK(stage.count() == 2);
}

TEST_CASE("journal: neither body nor key of the account is written down", "[cli]") {
  JournalStage stage;
  stage.killed_after_sending(stage.create());
  const auto kept = read_text(stage.person.home() / "STATE" / "ws" / "idempotency.db");
  CHECK(kept.find("docs.create") != std::string::npos);
  CHECK(kept.find("secret words") == std::string::npos);
  CHECK(kept.find("Once only") == std::string::npos);
  CHECK(kept.find(stage.server.token()) == std::string::npos);
}

TEST_CASE("journal: one that cannot be written is a note, and stops only what rests on it", "[cli]") {
  JournalStage stage;
  stage.swallows = false;
  write_text(stage.person.home() / "STATE" / "ws" / "idempotency.db", "no database at all, but of some length .......");
  const Ended noted = stage.person.ws(stage.create());
  CHECK(noted.exit == 0);
  CHECK(noted.err.find("journal") != std::string::npos);
  CHECK(stage.person.ws(stage.create({"--idempotency-key", "stable"})).exit == 14);
  CHECK(stage.count() == 1);
}
