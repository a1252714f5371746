// Creates that are cut off by a crash or a lost answer, between the real `ws` and the real mock.
#include <atomic>
#include <csignal>
#include <filesystem>

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

/// Two people of one Workspace, each with as many keys as they want, all given as WS_TOKEN.
struct RotatedKeys {
  TemporaryFolder folder;
  MockProcess server{two_people(folder)};
  Person person{server};

  std::string key_of(const std::string& name) const {
    return text_at(parse(control(server, "POST", "/keys", R"({"person": ")" + name + R"(@example.com"})")), "secret");
  }
  /// Of what was made, as a command tells it; the command has to succeed.
  std::string id_of(const std::string& key, std::vector<std::string> arguments) {
    person.environment["WS_TOKEN"] = key;
    arguments.insert(arguments.end(), {"--format", "ids"});
    const Ended ended = person.ws(std::move(arguments), folder.path());
    INFO(ended.err);
    CHECK(ended.exit == 0);
    return ended.out;
  }
  std::string create(const std::string& key, std::vector<std::string> more = {"--idempotency-key", "stable"}) {
    std::vector<std::string> arguments = {"docs", "create", "Once only", "-F", "content=words"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return id_of(key, arguments);
  }
  /// Another machine: what this one remembers is gone.
  void forget_all() const { std::filesystem::remove_all(person.home() / "STATE"); }
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

TEST_CASE("journal: a dry run shows the stable key that is then sent, whether or not it is known whose it is",
          "[cli]") {
  JournalStage stage;
  stage.swallows = false;
  const auto wish = stage.create({"--idempotency-key", "stable"});
  const auto shown = [&] {
    auto dry = wish;
    dry.push_back("--dry-run");
    return text_at(parse(stage.person.ws(dry).out), "headers.Idempotency-Key");
  };
  const std::string before = shown();
  CHECK(stage.count() == 0);
  CHECK(stage.person.ws(wish).exit == 0);
  REQUIRE(stage.count() == 1);
  CHECK(before.starts_with("ws-"));
  CHECK(shown() == before);
  // The service knows the key: nothing is made.
  auto named = stage.create({"--idempotency-key", before});
  CHECK(stage.person.ws(named).exit == 0);
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

TEST_CASE("journal: a `stable` create is the same with every key of one person, and none of another's", "[cli]") {
  RotatedKeys world;
  const bool is_other_machine = GENERATE(false, true);
  const std::string first = world.create(world.key_of("ada"));
  if (is_other_machine) world.forget_all();
  CHECK(world.create(world.key_of("ada")) == first);
  CHECK(world.create(world.key_of("grace")) != first);
}

TEST_CASE("journal: stored keys of two people in one Workspace are kept apart, those of one are not", "[cli]") {
  RotatedKeys world;
  const auto create = [&](const std::string& profile, const std::string& key, std::vector<std::string> more) {
    Command login = world.person.command(
        {"login", "--with-token", "--store", "file", "--profile", profile, "--base-url", world.server.base_url()});
    login.input = key;
    REQUIRE(run_command(login).exit == 0);
    std::vector<std::string> arguments = {"docs", "create", "Once only", "-F", "content=words", "--profile", profile};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"--format", "ids", "--base-url", world.server.base_url()});
    Command made = world.person.command(arguments);
    made.environment.erase("WS_TOKEN");
    return run_command(made).out;
  };
  const std::vector<std::string> stable = {"--idempotency-key", "stable"};
  const std::string first = create("ada", world.key_of("ada"), stable);
  CHECK(create("again", world.key_of("ada"), stable) == first);
  // What one person was answered and not told is no answer to the other.
  auto database = sqlite::Database::open((world.person.home() / "STATE" / "ws" / "idempotency.db").string());
  REQUIRE(database);
  REQUIRE(
      database->execute("update creates set settled_at = null, stable = 0, owner = '', status = 201, "
                        "answer = '{\"id\": \"of ada\"}'"));
  CHECK(create("grace", world.key_of("grace"), {}) != "of ada\n");
  CHECK(create("grace", world.key_of("grace"), stable) != first);
  CHECK(create("once more", world.key_of("ada"), {}) == "of ada\n");
}

TEST_CASE("journal: where the service does not say whose the key is, it stands for its owner", "[cli]") {
  RotatedKeys world;
  const std::string forbidden = R"({"operation": "me.get", "times": 1000000, "effect": {"status": 403}})";
  control(world.server, "POST", "/faults", forbidden);
  const std::string key = world.key_of("ada");
  const std::string first = world.create(key);
  CHECK(world.create(key) == first);
  CHECK(world.create(world.key_of("ada")) != first);
}

TEST_CASE("journal: a plain create that was cut is found by a later `stable` one that knows whose it is", "[cli]") {
  JournalStage stage;
  stage.killed_after_sending(stage.create());
  stage.swallows = false;
  const std::vector<std::string> stable = {"--idempotency-key", "stable"};
  const Ended found = stage.person.ws(stage.create(stable));
  REQUIRE(found.exit == 0);
  // The row has the name of its owner now: another key of the same person finds it too.
  stage.person.environment["WS_TOKEN"] = text_at(parse(control(stage.server, "POST", "/keys", "{}")), "secret");
  CHECK(stage.person.ws(stage.create(stable)).out == found.out);
  CHECK(stage.count() == 1);
}

TEST_CASE("journal: a file that one key has sent is known under another of the same person", "[cli]") {
  RotatedKeys world;
  write_text(world.folder / "one.txt", "one");
  write_text(world.folder / "two.txt", "two");
  const std::vector<std::string> upload = {"files", "upload", "one.txt", "two.txt"};
  const std::string first = world.id_of(world.key_of("ada"), upload);
  CHECK(world.id_of(world.key_of("ada"), upload) == first);
  const std::string other = world.id_of(world.key_of("grace"), upload);
  CHECK(other != first);
  CHECK(world.id_of(world.key_of("grace"), upload) == other);
}
