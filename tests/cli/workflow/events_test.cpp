// `ws events work` and the commands around it, against the real mock.
#include <csignal>
#include <filesystem>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::test;

namespace {

struct EventStage {
  MockProcess server;
  Person person{server};
  TemporaryFolder folder;
  std::string agent;

  EventStage() {
    const Ended made =
        person.ws({"agents", "create", "scribe", "--name", "Scribe", "--permissions", "read", "--format", "ids"});
    REQUIRE(made.exit == 0);
    agent = made.out.substr(0, made.out.size() - 1);
  }
  std::string ping() const {
    return text_at(parse(control(server, "POST", "/events", R"({"agent_id":")" + agent + R"("})")), "id");
  }
  std::vector<std::string> work(const std::string& script, std::vector<std::string> flags = {"--once"}) const {
    std::vector<std::string> arguments = {"events", "work", "--json", "--worker", "w1"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.insert(arguments.end(), {"--", "sh", "-c", script});
    return arguments;
  }
  /// The body of the newest request of an operation.
  Json asked(const std::string& operation) const {
    const Json journal = parse(control(server, "GET", "/requests", ""));
    Json found;
    for (const Json& entry : journal["data"]) {
      if (entry["operation"] == operation) found = entry["request_body"];
    }
    return found;
  }
};

/// By two signals: the first leaves the command its time.
Ended stopped_at_once(Running& worker, int signal) {
  worker.signal(signal);
  REQUIRE(worker.wait_for("stopping; 1 under way"));
  worker.signal(signal);
  return worker.wait();
}

}  // namespace

TEST_CASE("work: --once waits as --wait-seconds says, and not at all without it", "[cli]") {
  const EventStage stage;
  for (const auto& [flags, wait] :
       {std::pair<std::vector<std::string>, int>{{"--once"}, 0}, {{"--once", "--wait-seconds", "1"}, 1}}) {
    CAPTURE(wait);
    CHECK(stage.person.ws(stage.work("true", flags)).exit == 0);
    CHECK(stage.asked("events.claim")["wait_seconds"] == wait);
    auto dry = flags;
    dry.push_back("--dry-run");
    CHECK(parse(stage.person.ws(stage.work("true", dry)).out)["body"]["wait_seconds"] == wait);
  }
}

TEST_CASE("work: the event comes on stdin, what is printed becomes its result", "[cli]") {
  const EventStage stage;
  const std::string id = stage.ping();
  const Ended text = stage.person.ws(stage.work("cat > event.json; echo \"$WS_EVENT_ID\"; test -n \"$WS_LEASE_TOKEN\""),
                                     stage.folder.path());
  INFO(text.err);
  REQUIRE(text.exit == 0);
  CHECK(parse(text.out)["outcome"] == "completed");
  CHECK(text_at(parse(read_text(stage.folder / "event.json")), "id") == id);
  CHECK(stage.asked("events.complete")["result"] == Json{{"output", id + "\n"}});
  stage.ping();
  REQUIRE(stage.person.ws(stage.work(R"(echo '{"done": 1}')")).exit == 0);
  CHECK(stage.asked("events.complete")["result"] == Json{{"done", 1}});
}

TEST_CASE("work: what was done is printed in the format that was named", "[cli]") {
  const EventStage stage;
  const auto done = [&](const std::vector<std::string>& flags) {
    stage.ping();
    std::vector<std::string> words = {"events", "work", "--once"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--fields", "kind,outcome", "--", "true"});
    return stage.person.ws(words).out;
  };
  CHECK(done({"--format", "tsv"}) == "agent.ping\tcompleted\n");
  CHECK(done({"--format", "csv"}) == "kind,outcome\nagent.ping,completed\n");
  CHECK(done({"--format", "yaml"}) == "---\nkind: agent.ping\noutcome: completed\n");
  CHECK(done({"--json"}) == "{\"kind\":\"agent.ping\",\"outcome\":\"completed\"}\n");
}

TEST_CASE("work: output that is not UTF-8 is told", "[cli]") {
  const EventStage stage;
  stage.ping();
  const Ended ended = stage.person.ws(stage.work("printf 'a\\377'"));
  CHECK(ended.exit == 0);
  CHECK(ended.err.find("is not UTF-8") != std::string::npos);
}

TEST_CASE("work: a command that fails gives the end of its stderr, it is tried again until it is enough", "[cli]") {
  const EventStage stage;
  stage.ping();
  const Ended failed = stage.person.ws(stage.work("echo no such page >&2; exit 3"));
  CHECK(failed.exit == 13);
  CHECK(parse(failed.out)["outcome"] == "failed");
  CHECK(stage.asked("events.fail")["error"] == "no such page");
  CHECK(stage.asked("events.fail")["retryable"] == true);
  // The second try of that event, and the last that is wanted.
  control(stage.server, "POST", "/clock:advance", R"({"seconds":60})");
  CHECK(stage.person.ws(stage.work("exit 75", {"--once", "--max-attempts", "2"})).exit == 13);
  CHECK(stage.asked("events.fail")["error"] == "exit status 75");
  CHECK(stage.asked("events.fail")["retryable"] == false);
  stage.ping();
  const Ended final = stage.person.ws(stage.work("exit 4", {"--once", "--no-retry-exit", "3", "--no-retry-exit", "4"}));
  CHECK(final.exit == 13);
  CHECK(stage.asked("events.fail")["retryable"] == false);
  const Ended none = stage.person.ws(stage.work("exit 3"));
  CHECK(none.exit == 0);
  CHECK(none.err == "no event is waiting\n");
  CHECK(stage.person.ws(stage.work("true", {"--no-retry-exit", "0"})).exit == 2);
  CHECK(stage.person.ws(stage.work("true", {"--max-attempts", "many"})).exit == 2);
}

TEST_CASE("work: Ctrl-C leaves what it holds to its lease, and the exit says so", "[cli]") {
  const EventStage stage;
  stage.ping();
  Running worker(stage.person.command(stage.work("touch began; sleep 60", {}), stage.folder.path()));
  while (!std::filesystem::exists(stage.folder / "began")) {
  }
  const Ended ended = stopped_at_once(worker, SIGINT);
  CHECK(ended.exit == 130);
  CHECK(parse(ended.out)["outcome"] == "handed_back");
  CHECK(stage.asked("events.fail").is_null());
}

TEST_CASE("work: an event whose worker is stopped again and again keeps its attempts, and completes", "[cli]") {
  const EventStage stage;
  stage.ping();
  for (int stop = 0; stop < 7; ++stop) {
    // Every other command ends in a way of its own when it is told to.
    const std::string script =
        stop % 2 == 0 ? "touch began; sleep 60" : "trap 'exit 1' TERM; touch began; while :; do sleep 0.05; done";
    Running worker(stage.person.command(stage.work(script, {}), stage.folder.path()));
    while (!std::filesystem::exists(stage.folder / "began")) {
    }
    std::filesystem::remove(stage.folder / "began");
    const Ended ended = stopped_at_once(worker, SIGTERM);
    CHECK(ended.exit == 143);
    CHECK(parse(ended.out)["outcome"] == "handed_back");
    control(stage.server, "POST", "/clock:advance", R"({"seconds":60})");
  }
  const Ended done = stage.person.ws(stage.work("cat"));
  CHECK(done.exit == 0);
  CHECK(parse(done.out)["outcome"] == "completed");
  CHECK(stage.asked("events.complete")["result"]["attempt"] == 1);
}

TEST_CASE("work: Ctrl-C lets a command that ends by itself complete its event, whatever signals do to it", "[cli]") {
  const EventStage stage;
  stage.ping();
  Running worker(stage.person.command(stage.work("touch began; while [ ! -e go ]; do sleep 0.05; done; echo done", {}),
                                      stage.folder.path()));
  while (!std::filesystem::exists(stage.folder / "began")) {
  }
  worker.signal(SIGTERM);
  REQUIRE(worker.wait_for("stopping; 1 under way"));
  write_text(stage.folder / "go", "");
  const Ended ended = worker.wait();
  CHECK(ended.exit == 143);
  CHECK(parse(ended.out)["outcome"] == "completed");
}

TEST_CASE("work: more output than a result can hold fails the event for good, and is not cut", "[cli]") {
  const EventStage stage;
  stage.ping();
  const Ended ended = stage.person.ws(stage.work("head -c 8388609 /dev/zero | tr '\\0' x"));
  CHECK(ended.exit == 13);
  CHECK(parse(ended.out)["outcome"] == "failed");
  CHECK(stage.asked("events.complete").is_null());
  CHECK(stage.asked("events.fail")["retryable"] == false);
}

TEST_CASE("work: an event with a number that would be changed fails for good, and no command gets it", "[cli]") {
  const HostileServer server([](const Seen& seen) {
    const Json event = {{"id", nobody},
                        {"kind", "agent.ping"},
                        {"attempt", 1},
                        {"lease_token", std::string(24, 't')},
                        {"lease_expires_at", "2036-12-30T00:00:00Z"},
                        {"payload", {{"n", "N"}}}};
    std::string text = dump(Json{{"event", event}, {"retry_after_seconds", 5}});
    text.replace(text.find("\"N\""), 3, "123456789012345678901234567890");
    return answer(200, seen.target.ends_with(":claim") ? text : "{}");
  });
  const At somebody(server.origin());
  const TemporaryFolder folder;
  CHECK(somebody.ws({"events", "work", "--once", "--", "sh", "-c", "cat >event"}, folder.path()).exit == 13);
  CHECK_FALSE(std::filesystem::exists(folder / "event"));
  const Seen failed = server.requests().back();
  CHECK(failed.target.ends_with(":fail"));
  CHECK(parse(failed.body)["retryable"] == false);
}

TEST_CASE("work: an end that could not be printed was made all the same", "[cli]") {
  const EventStage stage;
  stage.ping();
  Command command = stage.person.command(stage.work("echo ok"));
  command.arguments.insert(command.arguments.begin(), {"sh", "-c", "\"$0\" \"$@\" > /dev/full"});
  const Ended ended = run_command(command);
  CHECK(ended.exit == 14);
  const Json error = parse(ended.err)["error"];
  CHECK(error["applied"] == "yes");
  CHECK(error["details"]["made"].size() == 1);
  CHECK(error["details"]["made"][0]["operation"] == "events.complete");
}

TEST_CASE("work: several at a time, each event once", "[cli]") {
  const EventStage stage;
  std::set<std::string> events;
  for (int i = 0; i < 6; ++i) events.insert(stage.ping());
  Running worker(stage.person.command(stage.work("echo ok", {"--jobs", "3"})));
  for (const std::string& id : events) REQUIRE(worker.wait_for("\"id\":\"" + id));
  worker.signal(SIGINT);
  const Ended ended = worker.wait();
  for (const std::string& id : events) {
    const std::size_t first = ended.out.find(id);
    REQUIRE(first != std::string::npos);
    CHECK(ended.out.find(id, first + 1) == std::string::npos);
  }
}

TEST_CASE("work: a claim without an answer is asked again, without permission it ends", "[cli]") {
  int claims = 0;
  const HostileServer server([&](const Seen&) {
    if (++claims == 1) return Script{CloseConnection{}};
    return answer(403, R"({"detail":"no","code":"missing_scope"})");
  });
  Person person;
  person.environment["WS_BASE_URL"] = server.origin();
  person.environment["WS_TOKEN"] = "wsk_test";
  const Ended ended = person.ws({"events", "work", "--json", "--", "true"});
  CHECK(ended.exit == 5);
  CHECK(claims == 2);
  CHECK(person.ws({"events", "work", "--", "no-such-program-anywhere"}).exit == 2);
  CHECK(claims == 2);
}

TEST_CASE("events: the lease token is kept between the commands, and is no flag's value", "[cli]") {
  const EventStage stage;
  const std::string id = stage.ping();
  CHECK(stage.person.ws({"events", "claim", "--format", "ids"}).out == id + "\n");
  CHECK(stage.person.ws({"events", "claim", "--format", "ids"}).out.empty());
  CHECK(stage.person.ws({"events", "renew", id, "--lease-seconds", "60"}).exit == 0);
  CHECK(stage.person.ws({"events", "fail", id, "--error", "later"}).exit == 0);
  const Ended unknown = stage.person.ws({"events", "complete", id, "--result", "{}"});
  CHECK(unknown.exit == 2);
  Person other(stage.server);
  other.environment["WS_LEASE_TOKEN"] = std::string(43, 'x');
  CHECK(other.ws({"events", "complete", id, "--result", "{}"}).exit == 7);
  CHECK(stage.person.ws({"events", "claim", "--lease-seconds", "5"}).exit == 2);
}

TEST_CASE("events: a completion that was not acknowledged is done once the event is finished", "[cli]") {
  int sends = 0;
  const HostileServer server([&](const Seen&) {
    if (++sends == 1) return Script{CloseConnection{}};
    return answer(409, R"({"detail": "It is finished.", "code": "already_finished"})");
  });
  At person(server.origin());
  person.environment["WS_LEASE_TOKEN"] = std::string(43, 'x');
  const Ended done = person.ws({"events", "complete", nobody, "--result", "{}", "--json"});
  INFO(done.err);
  CHECK(done.exit == 0);
  CHECK(parse(done.out) == Json{{"id", nobody}, {"status", "completed"}});
  CHECK(person.ws({"events", "complete", nobody, "--result", "{}"}).exit == 7);
}

TEST_CASE("events: a failure that was not acknowledged, and whose lease is gone, may have been told", "[cli]") {
  int sends = 0;
  const HostileServer server([&](const Seen&) {
    if (++sends == 1) return Script{CloseConnection{}};
    return answer(409, R"({"detail": "Another worker holds it.", "code": "lease_lost"})");
  });
  At person(server.origin());
  person.environment["WS_LEASE_TOKEN"] = std::string(43, 'x');
  const Ended lost = person.ws({"events", "fail", nobody, "--error", "later", "--json"});
  CHECK(lost.exit == 12);
  CHECK(error_of(lost)["applied"] == "unknown");
  CHECK(person.ws({"events", "fail", nobody, "--error", "later"}).exit == 7);
}

TEST_CASE("events: one without a token is not told as none", "[cli]") {
  const HostileServer server([](const Seen&) { return answer(200, R"({"event": {"id": "e"}})"); });
  const Ended claimed = At(server.origin()).ws({"events", "claim"});
  CHECK(claimed.exit == 0);
  CHECK(claimed.err.find("cannot be processed") != std::string::npos);
  const Ended worked = At(server.origin()).ws({"events", "work", "--once", "--json", "--", "true"});
  CHECK(worked.exit == 12);
  CHECK(error_of(worked)["code"] == "unusable_answer");
}
