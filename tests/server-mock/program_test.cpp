// The program: its flags, its ready file, its files.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/mock_process.hpp"
#include "tests/support/terminal_session.hpp"

using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

Ended ws_mock(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program("ws-mock"));
  return run_command({.arguments = std::move(arguments)});
}

nlohmann::json parse_json(const RawAnswer& answer) { return nlohmann::json::parse(answer.body); }

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

TEST_CASE("ws-mock: a bare start on a terminal says where its page is and how to log in", "[server-mock]") {
  TerminalSession session({.arguments = {program("ws-mock")}}, 80);
  session.wait_for("Ctrl-C ends it");
  const std::string said = session.lines();
  const std::string url = said.substr(0, said.find('\n'));
  CHECK_THAT(url, Catch::Matchers::Matches("http://127\\.0\\.0\\.1:[0-9]+"));
  CHECK_THAT(said, Contains("page       " + url + "/\n"));
  CHECK_THAT(said, Contains("inspector  " + url + "/_mock\n"));
  CHECK_THAT(said, Contains("ws login --base-url " + url + "\n"));
  CHECK(std::ranges::count(said, '\n') <= 6);
  session.signal(SIGINT);
  CHECK(session.end() == 0);
}

TEST_CASE("ws-mock: the first signal lets answers end, a second one ends it at once", "[server-mock]") {
  MockProcess mock;
  // More than the sockets hold, and the program that reads the output has ended.
  RawConnection client(mock.port());
  std::string requests;
  for (int i = 0; i < 500; ++i) requests += render({.target = "/_mock/openapi.json"});
  client.send(requests);
  REQUIRE(client.read());
  std::this_thread::sleep_for(std::chrono::seconds(1));  // until the sockets are full
  const bool is_twice = GENERATE(false, true);
  mock.process().signal(SIGINT);
  if (is_twice) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    mock.process().signal(SIGINT);
  }
  CHECK(mock.process().wait().exit == (is_twice ? 128 + SIGINT : 0));
}

TEST_CASE("ws-mock: stops when the control surface says so", "[server-mock]") {
  MockProcess mock;
  CHECK(mock.ask({.method = "POST", .target = "/_mock/shutdown"}).status == 202);
  CHECK(mock.process().wait().exit == 0);
}

TEST_CASE("ws-mock: the same seed gives the same token and ids, another seed others", "[server-mock]") {
  const auto first_id = [](const MockProcess& mock) {
    return parse_json(mock.ask({.target = "/v1/documents?limit=1", .token = mock.token()})).at("data").at(0).at("id");
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
    ids.push_back(parse_json(kept).at("id"));
    again.headers.clear();
    ids.push_back(parse_json(mock.ask(again)).at("id"));
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

TEST_CASE("ws-mock exec: a command that cannot be executed is 126, one that is not there 127", "[server-mock]") {
  TemporaryFolder folder;
  const std::string text = folder / "text";
  std::ofstream(text) << "echo never\n";
  const std::string lost = folder / "lost";
  std::ofstream(lost) << "#!/no/such/interpreter\n";
  std::filesystem::permissions(lost, std::filesystem::perms::owner_all);
  for (const std::string& name : {text, folder.path().string()}) {
    CAPTURE(name);
    const Ended ended = ws_mock({"exec", "--", name});
    CHECK(ended.exit == 126);
    CHECK_THAT(ended.err, Contains(name));
  }
  CHECK(ws_mock({"exec", "--", "no-such-program-anywhere"}).exit == 127);
}

TEST_CASE("ws-mock exec: passes a signal on and serves until the command has ended", "[server-mock]") {
  const auto [number, name] = GENERATE(table<int, std::string>(
      {{SIGTERM, "TERM"}, {SIGINT, "INT"}, {SIGHUP, "HUP"}, {SIGQUIT, "QUIT"}, {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}}));
  CAPTURE(name);
  const std::string script = "trap 'curl -s -o /dev/null -w \"%{http_code}\" $WS_BASE_URL/_mock/health; exit 9' " +
                             name + "; echo up; while :; do sleep 0.05; done";
  Running exec({.arguments = {program("ws-mock"), "exec", "--", "sh", "-c", script}});
  REQUIRE(exec.wait_for("up"));
  exec.signal(number);
  const Ended ended = exec.wait();
  CHECK(ended.exit == 9);
  CHECK_THAT(ended.out, Catch::Matchers::EndsWith("200"));
}

TEST_CASE("ws-mock exec: a signal that ends the command is its exit code", "[server-mock]") {
  Running exec({.arguments = {program("ws-mock"), "exec", "--", "sh", "-c", "echo up; exec sleep 60"}});
  REQUIRE(exec.wait_for("up"));
  const int number = GENERATE(SIGHUP, SIGUSR1, SIGTERM);
  exec.signal(number);
  CHECK(exec.wait().exit == 128 + number);
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
      {{"--rate-limit", "fast"}, "fast"},
      {{"--faults", "/no/such/file"}, "/no/such/file"},
      {{"--fixtures", "/no/such/file"}, "/no/such/file"},
      {{"check"}, "check needs a fixtures file"},
      {{"exec"}, "exec needs a command after --\n  usage: ws-mock exec [flags] -- CMD...\n"},
      {{"serve", "--", "true"}, "serve takes no command after --\n  `ws-mock exec -- CMD...` runs one"},
      {{"nonsense"}, "ws-mock has no command `nonsense`\n"},
      {{"exec", "--nonsense", "--", "true"}, "ws-mock has no flag --nonsense\n  `ws-mock exec --help`"},
      {{"srve"}, "ws-mock has no command `srve`\n  did you mean `ws-mock serve`?\n"},
      {{"--lisen", "127.0.0.1:0"}, "ws-mock has no flag --lisen\n  did you mean `--listen`?\n"},
      {{"exec", "--fixtres", "w", "--", "true"}, "ws-mock has no flag --fixtres\n  did you mean `--fixtures`?\n"},
      {{"open", "one", "two"}, "`two` is one argument too many\n"},
      {{"open"}, "an argument is missing\n  usage: ws-mock open FILE\n"},
      {{"--log", "loud"}, "--log takes text, json or off, not `loud`\n"},
      {{"--journal", "x"}, "--journal takes a number from 0 to 1000000, not `x`\n"},
      {{"--seed", "x"}, "--seed takes a number, not `x`\n"},
      {{"--seed", "-1"}, "--seed takes a number, not `-1`\n"},
      {{"serve", "--trace", "t", "--at", "-1"}, "--at takes a number, not `-1`\n"},
      {{"exec", "--report"}, "--report needs a value\n"},
      {{"serve", "--data", ""}, "--data needs a value\n"},
      {{"exec", "--expect", "", "--", "true"}, "--expect needs a value\n"},
      {{"sweep", "--output", "", "--", "true"}, "--output needs a value\n"},
      {{"health", ""}, "url needs a value\n"},
      {{"--reset"}, "--reset needs --data\n"},
      {{"--tls", "a,b", "--tls-self-signed"}, "give --tls or --tls-self-signed, not both\n"},
      {{"sweep", "--max-rows", "0", "--", "true"}, "--max-rows takes a number from 1 to 1000000, not `0`\n"},
      {{"sweep", "--sample", "0", "--", "true"}, "--sample takes a number from 1 to 1000000, not `0`\n"},
      {{"sweep", "--", "false"}, "ws-mock: without faults the command ended with 1, so there is nothing to compare"},
  }));
  CAPTURE(reason);
  const Ended ended = ws_mock(arguments);
  CHECK(ended.exit == 2);
  CHECK(ended.out.empty());
  CHECK_THAT(ended.err, Contains(reason));
}

TEST_CASE("ws-mock: help has the usage, what to start with, and fits 80 columns", "[server-mock]") {
  const auto [arguments, usage] = GENERATE(
      table<std::vector<std::string>, std::string>({{{"--help"}, "Usage: ws-mock [COMMAND] [flags]\n\nStart here\n"},
                                                    {{"exec", "-h"}, "Usage: ws-mock exec [flags] -- CMD...\n"},
                                                    {{"open", "--help"}, "Usage: ws-mock open FILE\n"},
                                                    {{"version", "--help"}, "Usage: ws-mock version [flags]\n"}}));
  const Ended ended = ws_mock(arguments);
  CHECK(ended.exit == 0);
  CHECK_THAT(ended.out, Contains(usage));
  for (std::size_t begin = 0; begin < ended.out.size();) {
    const std::size_t end = ended.out.find('\n', begin);
    CHECK(end - begin <= 80);
    begin = end + 1;
  }
}

TEST_CASE("ws-mock: open to others only with the control surface protected or left out", "[server-mock]") {
  MockProcess mock({"--listen", "0.0.0.0:0", "--control-token", "t"});
  CHECK(mock.ask({.target = "/_mock/health"}).status == 401);
  CHECK(mock.ask({.target = "/_mock/health", .token = "t"}).status == 200);
}

TEST_CASE("ws-mock: warns of approving logins and of taking any key where other machines can call", "[server-mock]") {
  const std::vector<std::string> open = {"--listen", "0.0.0.0:0", "--no-control"};
  const auto warnings = [&](std::vector<std::string> flags, const std::vector<std::string>& more) {
    flags.insert(flags.end(), more.begin(), more.end());
    return MockProcess(flags).end(SIGTERM).err;
  };
  CHECK_THAT(warnings(open, {"--device", "auto"}), Contains("--device auto") && Contains("without approval"));
  CHECK_THAT(warnings(open, {"--device", "after:2"}), Contains("--device after:2"));
  CHECK_THAT(warnings(open, {"--auth", "off"}), Contains("--auth off"));
  CHECK(warnings(open, {"--device", "deny"}).empty());
  CHECK(warnings({}, {"--device", "auto", "--auth", "any"}).empty());
}

TEST_CASE("ws-mock: fault rules come from a file, and all that is wrong with them is told", "[server-mock]") {
  TemporaryFolder folder;
  const std::string good = (folder / "faults.yaml").string();
  std::ofstream(good) << "- {operation: me.get, nth: 1, effect: {status: 503, retry_after: 1}}\n";
  MockProcess mock({"--faults", good});
  CHECK(mock.ask({.target = "/v1/me", .token = mock.token()}).status == 503);
  CHECK(mock.ask({.target = "/v1/me", .token = mock.token()}).status == 200);
  const std::string bad = (folder / "bad.json").string();
  std::ofstream(bad) << "{\"faults\": [\n  {\"operation\": \"me.git\", \"effect\": {\"status\": 503}},\n"
                        "  {\"operation\": \"*\", \"nth\": 0, \"effect\": {\"reset\": true}}\n]}\n";
  const Ended ended = ws_mock({"--faults", bad});
  CHECK(ended.exit == 2);
  CHECK_THAT(ended.err, Contains("bad.json:2:17: faults[0].operation: There is no operation me.git"));
  CHECK_THAT(ended.err, Contains("bad.json:3:29: faults[1].nth: "));
}

TEST_CASE("ws-mock: the example of fault rules holds", "[server-mock]") {
  MockProcess mock({"--faults", source_path("/server-mock/fixtures/faults.yaml")});
  CHECK(parse_json(mock.ask({.target = "/_mock/faults"})).at("data").size() == 31);
  const auto list = [&] { return mock.ask({.target = "/v1/documents", .token = mock.token()}); };
  CHECK(list().status == 503);
  CHECK(list().header("x-proxy") == "tea");
  CHECK(list().header("retry-after") == "2");
  CHECK(list().status == 200);
}

TEST_CASE("ws-mock: the journal goes to a file while it happens, secrets left out", "[server-mock]") {
  TemporaryFolder folder;
  const std::string path = (folder / "journal.jsonl").string();
  MockProcess mock({"--journal-file", path, "--journal", "0"});
  mock.ask({.target = "/v1/me?x=1", .token = mock.token()});
  mock.ask({.target = "/_mock/health"});
  mock.ask({.target = "/nowhere"});
  std::ifstream stream(path);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  REQUIRE(lines.size() == 2);
  CHECK(lines.at(0).at("seq") == 1);
  CHECK(lines.at(0).at("operation") == "me.get");
  CHECK(lines.at(0).at("query") == "x=1");
  CHECK(lines.at(0).at("warning") == "unknown and ignored: query.x");
  CHECK(lines.at(0).at("request_headers").at("authorization") == "[redacted]");
  CHECK(lines.at(1).at("status") == 404);
  for (const char* member :
       {"time", "method", "path", "request_body", "response_body", "duration_ms", "fault", "sandbox"}) {
    CHECK(lines.at(1).contains(member));
  }
}

TEST_CASE("ws-mock: fixtures are in when the ready file is there, check tells what is wrong", "[server-mock]") {
  const std::string example = source_path("/server-mock/fixtures/example.yaml");
  MockProcess mock({"--fixtures", example});
  CHECK(mock.ask({.target = "/v1/me", .token = "wsk_example_ada_every_scope_000000000000001"}).status == 200);
  CHECK(parse_json(mock.ask({.target = "/v1/me", .token = mock.token()})).at("user").at("email") == "ada@example.com");
  const Ended good = ws_mock({"check", example});
  CHECK(good.exit == 0);
  CHECK_THAT(good.out, Contains("people 3"));
  TemporaryFolder folder;
  const std::string bad = (folder / "bad.yaml").string();
  std::ofstream(bad) << "documents:\n  - {title: D, project: P}\n  - {titel: D}\n";
  const Ended wrong = ws_mock({"check", bad});
  CHECK(wrong.exit == 2);
  CHECK_THAT(wrong.err,
             Contains("bad.yaml:2:25: documents[0].project") && Contains("bad.yaml:3:5: documents[1].title"));
}

TEST_CASE("ws-mock: prints the API and the switches", "[server-mock]") {
  const Ended json = ws_mock({"openapi"});
  CHECK(json.exit == 0);
  std::size_t operations = 0;
  const auto document = nlohmann::json::parse(json.out);
  for (const auto& [path, methods] : document.at("paths").items()) operations += methods.size();
  CHECK(operations == ws::contract::operations().size());
  const auto required = [](const nlohmann::json& of) {
    const auto& schema = of.at("components").at("schemas").at("Document");
    return schema.contains("required") ? schema.at("required").get<std::set<std::string>>() : std::set<std::string>();
  };
  CHECK(required(document).empty());
  const auto mocked = nlohmann::json::parse(ws_mock({"openapi", "--as-mocked"}).out);
  const auto& shown = mocked.at("components").at("schemas").at("Document");
  CHECK(required(mocked).contains("title"));
  CHECK(shown.at("x-assumed-required").get<std::set<std::string>>() == required(mocked));
  CHECK(shown.at("properties").at("title").at("type") == "string");
  CHECK_THAT(ws_mock({"openapi", "--yaml"}).out, Contains("openapi: "));
  CHECK_THAT(ws_mock({"assumptions"}).out, Contains("error_style") && Contains("detail_object"));
}

TEST_CASE("ws-mock exec: as process 1 it reaps what has lost its parent", "[server-mock]") {
  const Ended tried = run_command({.arguments = {"unshare", "--pid", "--fork", "--mount-proc", "true"}});
  if (tried.exit != 0) {
    WARN("skipped: this machine gives no process space of its own");
    return;
  }
  const std::string script =
      "for i in 1 2 3; do (sleep 0.05 & exec true); done; sleep 0.6; "
      "cat /proc/[0-9]*/stat | grep -c ') Z ' || true";
  const Ended ended = run_command(
      {.arguments = {
           "unshare", "--pid", "--fork", "--mount-proc", program("ws-mock"), "exec", "--", "sh", "-c", script}});
  CHECK(ended.out == "0\n");
  CHECK(ended.exit == 0);
}
