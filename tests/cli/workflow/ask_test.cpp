// Questions and everything that is waited for.
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::test;

namespace {

Json json_of(const Person& person, std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Ended ended = person.ws(std::move(arguments));
  INFO(ended.err);
  REQUIRE(ended.exit == 0);
  return parse(ended.out);
}

/// Somebody whose service says one thing to everything.
Ended answered(const std::string& body, std::vector<std::string> arguments, const std::filesystem::path& folder = {}) {
  const HostileServer server([&](const Seen&) { return answer(200, body); });
  return At(server.origin()).ws(std::move(arguments), folder);
}

}  // namespace

TEST_CASE("ask: the question comes from words, stdin or a file", "[cli]") {
  const MockProcess server;
  const Person person(server);
  CHECK(json_of(person, {"ask", "Who", "comes?"})["prompt"] == "Who comes?");
  Command piped = person.command({"ask", "-", "--json"});
  piped.input = "And when?\n";
  CHECK(parse(run_command(piped).out)["prompt"] == "And when?");
  write_text(person.home() / "q.md", "Some text.\n");
  const std::string file = (person.home() / "q.md").string();
  CHECK(json_of(person, {"ask", "Is it so?", "--file", file})["prompt"] == "Is it so?\n\nSome text.");
  CHECK(json_of(person, {"ask", "Only", "--source", "memory"})["sources"] == Json::array({"memory"}));
  CHECK(person.ws({"ask"}).exit == 2);
}

TEST_CASE("ask: `last` is the conversation that was asked in last", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const Json first = json_of(person, {"ask", "One?"});
  const Json other = json_of(person, {"ask", "Two?"});
  CHECK(first["conversation_id"] != other["conversation_id"]);
  CHECK(json_of(person, {"ask", "More?", "--conversation", "last"})["conversation_id"] == other["conversation_id"]);
  CHECK(json_of(person, {"ask", "Back", "--conversation", first["conversation_id"]})["conversation_id"] ==
        first["conversation_id"]);
  // Somebody else's machine has only the service to go by.
  const Person elsewhere(server);
  CHECK(json_of(elsewhere, {"ask", "Here?", "--conversation", "last"})["conversation_id"] == first["conversation_id"]);
}

TEST_CASE("wait: what takes longer than --timeout is exit 8, and says how to go on", "[cli]") {
  const Ended ended = answered(R"({"id":")" + std::string(nobody) + R"(","status":"running"})",
                               {"questions", "get", nobody, "--wait", "--timeout", "1", "--json"});
  CHECK(ended.exit == 8);
  CHECK(ended.out.empty());
  CHECK(error_of(ended)["code"] == "still_pending");
  CHECK(error_of(ended)["hint"].get<std::string>().find("ws questions get " + std::string(nobody) + " --wait") !=
        std::string::npos);
}

TEST_CASE("wait: a failed run or operation is exit 13, shown all the same", "[cli]") {
  const TemporaryFolder folder;
  const std::string run =
      R"({"id":")" + std::string(nobody) + R"(","status":"failed","results":[{"case_id":"c","status":"failed"}]})";
  const Ended failed =
      answered(run, {"tests", "runs", "get", nobody, "--wait", "--junit", "r.xml", "--json"}, folder.path());
  CHECK(failed.exit == 13);
  CHECK(failed.out == run + "\n");
  CHECK(read_text(folder / "r.xml").find("failures=\"1\"") != std::string::npos);
  const std::string operation =
      R"({"operation_id":")" + std::string(nobody) + R"(","status":"cancelled","phase":"reading"})";
  CHECK(answered(operation, {"files", "operation", nobody, "--wait", "--json"}).exit == 13);
  CHECK(answered(operation, {"files", "operation", nobody, "--json"}).exit == 0);
  CHECK(answered(run, {"tests", "runs", "get", nobody, "--junit", "r.xml"}).exit == 2);
}

TEST_CASE("ask: a stdin or file without text asks nothing", "[cli]") {
  const MockProcess server;
  const Person person(server);
  using Words = std::vector<std::string>;
  const Words words =
      GENERATE(Words{"ask", "-"}, Words{"ask", "-f", "-"}, Words{"ask", "-", "--body", R"({"prompt": "x"})"});
  Command command = person.command(words);
  command.input = "\n";
  CHECK(run_command(command).exit == 2);
  CHECK(parse(control(server, "GET", "/state", ""))["tables"]["questions"].empty());
}

TEST_CASE("ask: where the text of the answer cannot be read, the question is told", "[cli]") {
  const HostileServer server([](const Seen& seen) {
    if (seen.method != "POST") return answer(403, R"({"detail": "no"})");
    return answer(200, dump({{"id", nobody}, {"status", "completed"}, {"artifacts", {{{"document_id", nobody}}}}}));
  });
  const Ended ended = At(server.origin()).ws({"ask", "why"});
  CHECK(ended.exit == 5);
  CHECK(ended.err.find(std::string("the question ") + nobody + " was answered") != std::string::npos);
  CHECK(ended.err.find(std::string("ws questions get ") + nobody) != std::string::npos);
}

TEST_CASE("wait: what is still pending is the last one made", "[cli]") {
  const MockProcess server({"--assume", "question_async=yes"});
  const Person person(server);
  CHECK(person.ws({"ask", "one", "--no-wait"}).exit == 0);
  CHECK(person.ws({"ask", "two", "--timeout", "1"}).exit == 8);
  CHECK(person.ws({"questions", "get", "last", "--jq", ".prompt"}).out == "two\n");
}

TEST_CASE("runs: --junit goes into the pipe that it names, and what cannot be written is found before the run",
          "[cli]") {
  const MockProcess server;
  const Person person(server);
  const TemporaryFolder folder;
  const std::vector<std::string> launch = {"tests", "runs", "launch", "--suite", "smoke", "--wait", "--json"};
  const auto runs = [&] { return parse(person.ws({"tests", "runs", "list", "--json"}).out)["data"].size(); };
  const std::size_t before = runs();
  for (const char* const file : {"missing/r.xml", ".", "/dev/fd/77", "-"}) {
    CAPTURE(file);
    auto words = launch;
    words.insert(words.end(), {"--junit", file});
    CHECK(person.ws(words, folder.path()).exit == (std::string_view(file) == "-" ? 2 : 14));
    CHECK(runs() == before);
  }
  Command command = person.command({}, folder.path());
  command.program.clear();
  command.arguments = {"bash",
                       "-c",
                       GENERATE("mkfifo p; timeout 20 cat p >got & \"$0\" \"$@\" --junit p; e=$?; "
                                "test -p p || kill $!; wait; test -p p && exit $e",
                                "\"$0\" \"$@\" --junit /dev/stdout | cat >got; exit ${PIPESTATUS[0]}"),
                       program("ws")};
  command.arguments.insert(command.arguments.end(), launch.begin(), launch.end());
  const Ended ended = run_command(command);
  INFO(ended.err);
  CHECK(ended.exit == 0);
  CHECK(read_text(folder / "got").find("</testsuites>") != std::string::npos);
  CHECK(runs() == before + 1);
}

TEST_CASE("ask: what ends the waiting after the question was accepted says so, with its id", "[cli]") {
  const HostileServer server([](const Seen& seen) {
    if (seen.method == "POST") return answer(200, dump({{"id", nobody}, {"status", "queued"}}));
    return answer(404, R"({"detail": "gone"})");
  });
  const At person(server.origin());
  const Json error = error_of(person.ws({"ask", "why", "--json"}));
  CHECK(error["applied"] == "yes");
  CHECK(error["retryable"] == false);
  CHECK(text_at(error, "message").find(nobody) != std::string::npos);
  CHECK(text_at(error, "hint").find(std::string("ws questions get ") + nobody + " --wait") != std::string::npos);
}

TEST_CASE("ask: a status that is not known is an end where the answer is there", "[cli]") {
  const HostileServer server([](const Seen&) {
    return answer(200, dump({{"id", nobody}, {"status", "settled"}, {"answer", "At dusk."}}));
  });
  const At person(server.origin());
  const Ended asked = person.ws({"ask", "when"});
  CHECK(asked.exit == 0);
  CHECK(asked.out == "At dusk.\n");
  CHECK(asked.err.find("the status `settled` is unknown") != std::string::npos);
}

TEST_CASE("ask: while a question runs, what there is of its answer is no end", "[cli]") {
  std::atomic<int> asked{0};
  const HostileServer server([&](const Seen&) {
    const bool is_done = ++asked > 2;
    return answer(200,
                  dump({{"id", nobody},
                        {"status", is_done ? "completed" : "running"},
                        {"answer", is_done ? "At dusk." : "At"},
                        {"artifacts", {{{"kind", "document"}, {"document_id", nobody}}}}}));
  });
  const Ended ended = At(server.origin()).ws({"ask", "when"});
  CHECK(ended.exit == 0);
  CHECK(ended.out == "At dusk.\n");
  CHECK(ended.err.find("is unknown") == std::string::npos);
}

TEST_CASE("wait: a status that is not known is noted, once, and is no end", "[cli]") {
  const auto [noun, body] = GENERATE(table<std::string, Json>({
      {"tests", {{"id", nobody}, {"status", "settled"}, {"results", Json::array()}}},
      {"files", {{"operation_id", nobody}, {"status", "settled"}, {"phase", "settled"}}},
  }));
  CAPTURE(noun);
  std::vector<std::string> words = {"files", "organize", nobody, "-m", "A page", "--wait", "--timeout", "1"};
  if (noun == "tests") words = {"tests", "runs", "launch", "--suite", "s", "--wait", "--timeout", "1"};
  const Ended ended = answered(dump(body), words);
  CHECK(ended.exit == 8);
  const std::string note = "note: the status `settled` is unknown, so the wait continues; --timeout S limits it\n";
  CHECK(ended.err.find(note) != std::string::npos);
  CHECK(ended.err.find(note) == ended.err.rfind(note));
  CHECK(ended.err.find(std::string(nobody) + " was accepted, but its outcome is not known: still settled") !=
        std::string::npos);
}

namespace {

/// A question that is accepted and never answered.
Script never_answered(const Seen& seen) {
  return answer(200, dump({{"id", nobody}, {"status", seen.method == "POST" ? "queued" : "running"}}));
}

void wait_for_requests(const HostileServer& server, std::size_t count) {
  while (server.requests().size() < count) std::this_thread::sleep_for(std::chrono::milliseconds{5});
}

}  // namespace

TEST_CASE("ask: waits for ten minutes and no longer, and then says how to continue", "[cli]") {
  const HostileServer server(never_answered);
  const At person(server.origin());
  const TemporaryFolder folder;
  Command command = person.command({"ask", "why", "--json"});
  command.environment["LD_PRELOAD"] = WS_MOVED_CLOCK;
  command.environment["WS_TEST_CLOCK"] = (folder / "clock").string();
  Running running(command);
  wait_for_requests(server, 2);
  write_text(folder / "clock", "570");
  wait_for_requests(server, server.requests().size() + 3);
  write_text(folder / "clock", "600");
  const Ended ended = running.wait();
  CHECK(ended.exit == 8);
  const Json error = error_of(ended);
  CHECK(error["code"] == "still_pending");
  CHECK(error["applied"] == "yes");
  CHECK(text_at(error, "message").find(nobody) != std::string::npos);
  CHECK(text_at(error, "hint").find(std::string("ws questions get ") + nobody + " --wait") != std::string::npos);
}

TEST_CASE("ask: interrupted after the question was accepted, it says so with its id", "[cli]") {
  const HostileServer server(never_answered);
  const At person(server.origin());
  Running running(person.command({"ask", "why", "--json"}));
  wait_for_requests(server, 2);
  running.signal(SIGINT);
  const Ended ended = running.wait();
  CHECK(ended.exit == 130);
  const Json error = error_of(ended);
  CHECK(error["applied"] == "yes");
  CHECK(error["retryable"] == false);
  CHECK(text_at(error, "message").find(nobody) != std::string::npos);
  CHECK(text_at(error, "hint").find(std::string("ws questions get ") + nobody + " --wait") != std::string::npos);
}

TEST_CASE("ends: a test run that was accepted without an id is not said to have failed", "[cli]") {
  const HostileServer server([](const Seen&) { return answer(202, R"({"status": "accepted"})"); });
  const At person(server.origin());
  const Ended ended = person.ws({"tests", "runs", "launch", "--suite", "s", "--wait", "--json"});
  CHECK(ended.exit == 12);
  CHECK(error_of(ended)["applied"] == "unknown");
  CHECK(text_at(error_of(ended), "idempotency_key").size() == 36);
}
