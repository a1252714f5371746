// The program itself: its flags, its ready file, what it leaves behind.
#include <csignal>
#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/mock_process.hpp"

using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

Ended ws_mock(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program("ws-mock"));
  return run_command({.arguments = std::move(arguments)});
}

nlohmann::json parse(const RawAnswer& answer) { return nlohmann::json::parse(answer.body); }

}  // namespace

TEST_CASE("ws-mock: the first line is the base URL, the ready file tells the rest and goes with the server",
          "[server-mock]") {
  MockProcess mock;
  CHECK(mock.process().so_far().out == mock.base_url() + "\n");
  std::ifstream stream(mock.ready_file());
  const auto ready = nlohmann::json::parse(stream);
  CHECK(ready.at("pid") == mock.process().pid());
  CHECK(ready.at("control_url") == mock.base_url() + "/_mock");
  CHECK(ready.at("control_token").is_null());
  CHECK(mock.ask({.target = "/v1/me", .token = mock.token()}).status == 200);
  const int signal = GENERATE(SIGTERM, SIGINT);
  CHECK(mock.end(signal).exit == 0);
  CHECK_FALSE(std::filesystem::exists(mock.ready_file()));
}

TEST_CASE("ws-mock: stops when the control surface says so", "[server-mock]") {
  MockProcess mock;
  CHECK(mock.ask({.method = "POST", .target = "/_mock/shutdown"}).status == 202);
  CHECK(mock.process().wait().exit == 0);
}

TEST_CASE("ws-mock: the same seed gives the same token and ids, another seed others", "[server-mock]") {
  const auto first_id = [](const MockProcess& mock) {
    return parse(mock.ask({.target = "/v1/documents?limit=1", .token = mock.token()})).at("data").at(0).at("id");
  };
  MockProcess one({"--seed", "7"});
  MockProcess same({"--seed", "7"});
  MockProcess other({"--seed", "8"});
  CHECK(one.token() == same.token());
  CHECK(first_id(one) == first_id(same));
  CHECK(one.token() != other.token());
}

TEST_CASE("ws-mock: an answered write is there after SIGKILL, and the world goes on where it was", "[server-mock]") {
  TemporaryFolder folder;
  const std::vector<std::string> flags = {"--data", (folder / "world.db").string()};
  const RawRequest create = {.method = "POST",
                             .target = "/v1/documents",
                             .json = R"({"title": "kept", "content": "text"})",
                             .headers = {"Idempotency-Key: k"}};
  std::vector<std::string> ids;
  std::string token;
  for (int round = 0; round < 3; ++round) {
    MockProcess mock(flags);
    if (round == 0) token = mock.token();
    CHECK(mock.token() == token);
    for (const std::string& id : ids) {
      CHECK(mock.ask({.target = "/v1/documents/" + id, .token = token}).status == 200);
    }
    RawRequest again = create;
    again.token = token;
    const RawAnswer kept = mock.ask(again);
    CHECK(kept.status == 201);
    CHECK((kept.header("idempotent-replayed") == "true") == (round > 0));
    ids.push_back(parse(kept).at("id"));
    again.headers.clear();
    ids.push_back(parse(mock.ask(again)).at("id"));
    CHECK(mock.end(SIGKILL).exit == 128 + SIGKILL);
  }
  CHECK(ids.at(0) == ids.at(2));
  CHECK(ids.at(1) != ids.at(3));
}

TEST_CASE("ws-mock exec: runs a command beside the server and gives its exit code", "[server-mock]") {
  const Ended shell = ws_mock({"exec", "--seed", "3", "--", "sh", "-c", "echo \"$WS_BASE_URL $WS_TOKEN\"; exit 7"});
  CHECK(shell.exit == 7);
  CHECK_THAT(shell.out, Catch::Matchers::Matches("http://127\\.0\\.0\\.1:[0-9]+ wsk_[A-Za-z0-9_-]{43}\n"));
  CHECK(shell.err.empty());
  CHECK(ws_mock({"exec", "--", "sh", "-c", "kill -9 $$"}).exit == 128 + SIGKILL);
  const Ended missing = ws_mock({"exec", "--", "/no/such/program"});
  CHECK(missing.exit == 127);
  CHECK_THAT(missing.err, Contains("/no/such/program"));
}

TEST_CASE("ws-mock exec: a stop is passed on to the command", "[server-mock]") {
  Running exec(
      {.arguments = {
           program("ws-mock"), "exec", "--", "sh", "-c", "trap 'exit 9' TERM; echo up; while :; do sleep 0.05; done"}});
  REQUIRE(exec.wait_for("up"));
  exec.signal(SIGTERM);
  CHECK(exec.wait().exit == 9);
}

TEST_CASE("ws-mock: a wrong word ends with exit code 2 and says what is wrong", "[server-mock]") {
  const auto [arguments, reason] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"--nonsense"}, "--nonsense"},
      {{"--listen", "everywhere"}, "everywhere"},
      {{"--listen", "0.0.0.0:0"}, "--control-token"},
      {{"--clock", "sundial"}, "sundial"},
      {{"--device", "after:x"}, "after:x"},
      {{"--device-interval", "0"}, "--device-interval"},
      {{"--assume", "nothing=1"}, "nothing"},
      {{"--assume", "error_style=loud"}, "loud"},
      {{"--auth", "maybe"}, "--auth"},
      {{"--seed", "x"}, "--seed"},
      {{"exec"}, "--"},
      {{"serve", "--", "true"}, "exec"},
  }));
  CAPTURE(reason);
  const Ended ended = ws_mock(arguments);
  CHECK(ended.exit == 2);
  CHECK(ended.out.empty());
  CHECK_THAT(ended.err, Contains(reason));
}

TEST_CASE("ws-mock: open to others only with the control surface protected or left out", "[server-mock]") {
  MockProcess mock({"--listen", "0.0.0.0:0", "--control-token", "t"});
  CHECK(mock.ask({.target = "/_mock/health"}).status == 401);
  CHECK(mock.ask({.target = "/_mock/health", .token = "t"}).status == 200);
}

TEST_CASE("ws-mock: prints the API and the switches", "[server-mock]") {
  const Ended json = ws_mock({"openapi"});
  CHECK(json.exit == 0);
  std::size_t operations = 0;
  const auto document = nlohmann::json::parse(json.out);
  for (const auto& [path, methods] : document.at("paths").items()) operations += methods.size();
  CHECK(operations == 56);
  CHECK_THAT(ws_mock({"openapi", "--yaml"}).out, Contains("openapi: "));
  CHECK_THAT(ws_mock({"assumptions"}).out, Contains("error_style") && Contains("detail_object"));
}

TEST_CASE("ws-mock: a file that is no database of ours is refused", "[server-mock]") {
  TemporaryFolder folder;
  std::ofstream(folder / "notes.txt") << std::string(5000, 'x');
  const Ended ended = ws_mock({"--data", (folder / "notes.txt").string()});
  CHECK(ended.exit == 1);
  CHECK_THAT(ended.err, Contains("notes.txt"));
}
