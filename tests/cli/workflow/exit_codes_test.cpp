// Each exit code on purpose, through the real binary.
#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "cli/base/exit_code.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::test;

namespace {

/// Against a server that answers everything like this.
Ended against(Script script, std::vector<std::string> arguments) {
  const HostileServer server([&](const Seen&) { return script; });
  arguments.push_back("--json");
  return At(server.origin()).ws(std::move(arguments));
}

/// The exit code, which the JSON error names too.
int told(const Ended& ended) {
  CHECK(ended.out.empty());
  CHECK(error_of(ended)["exit"] == ended.exit);
  return ended.exit;
}

const std::vector<std::string> get = {"docs", "get", nobody};
const std::vector<std::string> create = {"docs", "create", "T"};
const std::vector<std::string> share = {"docs", "share", nobody, "--with", "a@b.example", "--permission", "read"};

}  // namespace

TEST_CASE("exit 0: done, an empty list is done", "[cli]") {
  CHECK(against(answer(200, R"({"data": [], "next_cursor": null})"), {"docs", "list"}).exit == 0);
}

TEST_CASE("exit 1: an answer that cannot be used", "[cli]") { CHECK(told(against(answer(200, "no JSON"), get)) == 1); }

TEST_CASE("exit 2: usage or a local limit, and nothing was sent", "[cli]") {
  const HostileServer server([](const Seen&) { return answer(200, "{}"); });
  const At person(server.origin());
  CHECK(told(person.ws({"docs", "list", "--limit", "101", "--json"})) == 2);
  CHECK(told(person.ws({"docs", "lsit", "--json"})) == 2);
  CHECK(told(person.ws({"docs", "list", "--limt", "5", "--json"})) == 2);
  CHECK(told(Person().ws({"whoami", "--json"})) == 2);
  CHECK(server.requests().empty());
}

TEST_CASE("exit 3: the server refused the input", "[cli]") {
  const int status = GENERATE(400, 405, 413, 415, 416, 422);
  CHECK(told(against(answer(status, R"({"detail": "no"})"), get)) == 3);
}

TEST_CASE("exit 4: not authenticated", "[cli]") { CHECK(told(against(answer(401, "{}"), get)) == 4); }

TEST_CASE("exit 5: permission or scope", "[cli]") {
  const std::string body = GENERATE(R"({"code": "missing_scope", "required_scope": "documents:read"})",
                                    R"({"detail": {"code": "missing_scope", "required_scope": "documents:read"}})");
  const Ended ended = against(answer(403, body), get);
  CHECK(told(ended) == 5);
  CHECK(ended.err.find("the key of WS_TOKEN lacks documents:read") != std::string::npos);
}

TEST_CASE("exit 6: not found", "[cli]") {
  const int status = GENERATE(404, 410);
  CHECK(told(against(answer(status, "{}"), get)) == 6);
}

TEST_CASE("exit 7: a conflict", "[cli]") {
  const int status = GENERATE(409, 412);
  CHECK(told(against(answer(status, "{}"), {"docs", "update", nobody, "--title", "x", "--revision", "1"})) == 7);
}

TEST_CASE("exit 8: still pending", "[cli]") {
  const MockProcess server;
  const Person person;
  REQUIRE(person.ws({"login", "--base-url", server.base_url(), "--no-wait"}).exit == 0);
  CHECK(told(person.ws({"login", "--resume", "--once", "--store", "file", "--json"})) == 8);
  CHECK(told(against(answer(428, "{}"), get)) == 8);
}

TEST_CASE("exit 9: rate limited after the retries, and when to come back", "[cli]") {
  const Ended ended = against(answer(429, "{}", {{"Retry-After", "3600"}}), get);
  CHECK(told(ended) == 9);
  CHECK(error_of(ended)["retry_after_ms"] == 3'600'000);
}

TEST_CASE("exit 10: the server failed after the retries", "[cli]") {
  CHECK(told(against(answer(500, "{}"), {"docs", "get", nobody, "--no-retry"})) == 10);
  const Ended unsafe = against(answer(502, "{}"), share);
  CHECK(told(unsafe) == 10);
  CHECK(error_of(unsafe)["applied"] == "unknown");
}

TEST_CASE("exit 11: no network, and nothing was applied", "[cli]") {
  const At person("http://127.0.0.1:" + std::to_string(closed_port()));
  const Ended ended = person.ws({"docs", "create", "T", "--json", "--no-retry"});
  CHECK(told(ended) == 11);
  CHECK(error_of(ended)["applied"] == "no");
}

TEST_CASE("exit 12: a write was sent and no usable answer came, what to check is named", "[cli]") {
  const Ended ended = against({CloseConnection{}}, share);
  CHECK(told(ended) == 12);
  CHECK(error_of(ended)["applied"] == "unknown");
  CHECK(error_of(ended)["hint"].get<std::string>().find("`ws ") != std::string::npos);
}

TEST_CASE("exit 13: some of a batch failed", "[cli]") {
  const MockProcess server;
  const Person person(server);
  const std::string first = person.ws({"docs", "list", "--limit", "1", "--format", "ids"}).out.substr(0, 36);
  const Ended ended = person.ws({"docs", "archive", first, nobody, "--yes", "--json"});
  CHECK(ended.exit == 13);
  CHECK(parse(ended.out)["data"].size() == 2);
}

TEST_CASE("exit 14: a local file stands in the way", "[cli]") {
  const At person("http://127.0.0.1:9");
  CHECK(told(person.ws({"docs", "create", "-f", "missing.md", "--json"}, person.home())) == 14);
  write_text(person.home() / "there", "x");
  CHECK(told(person.ws({"docs", "list", "-o", "there", "--json"}, person.home())) == 14);
  CHECK(read_text(person.home() / "there") == "x");
}

TEST_CASE("exit 15: bytes that are not those that were promised", "[cli]") {
  const HostileServer server([](const Seen& seen) {
    if (seen.target.find("manifest") == std::string::npos) return answer(200, "other");
    const Json file = {{"path", "SKILL.md"}, {"sha256", Sha256::of("this").hex()}};
    return answer(200, dump({{"name", "s"}, {"files", {file}}}));
  });
  CHECK(told(At(server.origin()).ws({"skill", "show", "--url", server.url("/s"), "--json"})) == 15);
}

TEST_CASE("exit 130 and 143: the signals' own codes", "[cli]") {
  const HostileServer server([](const Seen&) { return Script{Hold{}}; });
  const int signal = GENERATE(SIGINT, SIGTERM);
  Command command = At(server.origin()).command({"docs", "get", nobody, "--debug"});
  command.signal_after_output = signal;
  CHECK(run_command(command).exit == 128 + signal);
}

TEST_CASE("exit 141: a reader that goes away ends it without a word", "[cli]") {
  const MockProcess server;
  const Person person(server);
  // A pipe that has lost its reader before the first byte.
  const Command command{
      .arguments = {"bash", "-c", "mkfifo p && exec 3<>p 4>p 3<&-; \"$0\" commands >&4; echo $?", program("ws")},
      .environment = person.environment,
      .folder = person.home()};
  const Ended ended = run_command(command);
  CHECK(ended.out == "141\n");
  CHECK(ended.err.empty());
}

TEST_CASE("exit codes: the list for machines names every one", "[cli]") {
  const Json list = parse(Person().ws({"help", "exit-codes", "--json"}).out);
  std::vector<int> codes;
  for (const Json& one : list["data"]) codes.push_back(one["exit"].get<int>());
  CHECK(codes == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 130, 141, 143});
}
