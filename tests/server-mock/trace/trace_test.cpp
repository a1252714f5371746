// Traces: recorded in this process and replayed, then with the real programs. `WS_FAULTS=all` records 10,000 requests.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/trace/player.hpp"
#include "server-mock/trace/recorder.hpp"
#include "server-mock/trace/replay.hpp"
#include "tests/support/mock_process.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

bool is_long() {
  const char* const faults = std::getenv("WS_FAULTS");
  return faults != nullptr && std::string(faults) == "all";
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// An application that is recorded, and asked without a socket.
struct Recording {
  explicit Recording(const std::string& path, const Json& fixtures = Json::array()) {
    options.sandbox.fixtures = Fixtures::of_all(fixtures).value();
    pinned->at = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    options.sandbox.clock.pin(pinned);
    application = Application::open(options).value();
    application->set_base_url("http://127.0.0.1:4000");
    const trace::SecretNames secrets(options.sandbox.world.seed, "");
    const Json start = {{"command", {"a-test"}}, {"flags", {{"seed", 1}, {"fixtures", fixtures}}}};
    recorder = trace::Recorder::open(path, start, secrets, *application, pinned).value();
  }

  /// The body of the answer, and its size in the journal's file.
  Json ask(const std::string& method, const std::string& target, const Json& body = nullptr, std::string key = "") {
    const std::string sent = body.is_null() ? "" : dump(body);
    if (key.empty()) key = usual_key.empty() ? application->sandbox().built_in.token : usual_key;
    const std::string token = "Bearer " + key;
    const std::string head = fmt::format(
        "{} {} HTTP/1.1\r\nHost: 127.0.0.1:4000\r\nContent-Type: application/json\r\nAuthorization: {}\r\n\r\n",
        method,
        target,
        token);
    http::Request request = {
        .method = method,
        .target = target,
        .head = head,
        .headers = {{"Host", "127.0.0.1:4000"}, {"Content-Type", "application/json"}, {"Authorization", token}},
        .body = sent};
    http::split_target(request);
    const http::Response response = recorder->handle(request);
    if (response.ticket()) return {{"ticket", *response.ticket()}};
    return response.text().empty() ? Json(nullptr) : parse_bounded(response.text()).value();
  }

  std::shared_ptr<PinnedTime> pinned = std::make_shared<PinnedTime>();
  ApplicationOptions options = {};
  std::string usual_key = {};  // empty: the world's own
  std::unique_ptr<Application> application = {};
  std::unique_ptr<trace::Recorder> recorder = {};
};

/// As a client works: lists, creates, updates, looks at what it made, and now and then fails.
void work(Recording& recording, std::size_t requests) {
  std::string id;
  for (std::size_t i = 0; i < requests; ++i) {
    switch (i % 8) {
      case 0:
        id = find_text(recording.ask("POST",
                                     "/v1/documents",
                                     {{"title", fmt::format("Note {}", i)},
                                      {"content", fmt::format("The text of note {}, as it is at first.", i)}}),
                       "id")
                 .value_or("none");
        break;
      case 3: recording.ask("GET", "/v1/documents/none-at-all"); break;
      case 5: recording.ask("GET", "/v1/documents?limit=3"); break;
      case 6: recording.ask("GET", "/v1/me"); break;
      default: recording.ask("GET", "/v1/documents/" + id);
    }
  }
}

trace::Trace read_back(const std::string& path) {
  auto read = trace::Trace::read(path);
  INFO((read ? "" : read.error().what));
  REQUIRE(read);
  return std::move(*read);
}

}  // namespace

TEST_CASE("trace: a replay has the recorded state at each request, and jumps both ways", "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.trace";
  const std::size_t requests = is_long() ? 10'000 : 700;
  Recording recording(path);
  work(recording, requests);
  recording.recorder->end(0);
  const trace::Trace recorded = read_back(path);
  REQUIRE(recorded.requests.size() == requests);
  CHECK(recorded.exit == 0);
  CHECK_FALSE(recorded.snapshots.empty());

  trace::Checkpoints checkpoints;
  const auto replay = trace::Replay::open(recorded, recording.options, checkpoints).value();
  for (std::size_t n = 1; n <= requests; ++n) {
    REQUIRE(replay->go_to(n));
    CAPTURE(n, recorded.events[n - 1].head);
    REQUIRE(replay->played().state == recorded.events[recorded.requests[n - 1]].state);
    REQUIRE(replay->played().status == recorded.events[recorded.requests[n - 1]].status);
  }
  CHECK_FALSE(replay->first_difference());

  trace::Checkpoints none;
  const auto jumping = trace::Replay::open(recorded, recording.options, none).value();
  for (const std::size_t n : {requests, std::size_t{9}, requests - 3, requests / 2, std::size_t{0}, requests / 2 + 1}) {
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(jumping->go_to(n));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (is_long()) WARN("jump to " << n << ": " << took.count() << " ms");
    CHECK(jumping->played().state == jumping->played().recorded);
  }
  const Json rows = *recording.application->sandbox().read_state();
  REQUIRE(jumping->go_to(requests));
  CHECK((*jumping->application().sandbox().read_state())["tables"] == rows["tables"]);
}

TEST_CASE("trace: where kept worlds take too much memory every second one goes", "[trace]") {
  trace::Checkpoints checkpoints;
  const auto way = checkpoints.max_gap();
  const auto keep = [&checkpoints](std::size_t moment) {
    checkpoints.keep(moment,
                     {.rows = sqlite::Database::open(":memory:").value(), .bytes = trace::Checkpoints::max_bytes / 4});
  };
  for (std::size_t moment = 1; moment <= 4; ++moment) keep(moment);
  CHECK(checkpoints.max_gap() == way);
  keep(5);
  CHECK(checkpoints.max_gap() == 2 * way);
  CHECK_FALSE(checkpoints.contains(1));
  CHECK(checkpoints.contains(2));
  CHECK_FALSE(checkpoints.contains(3));
  CHECK(checkpoints.before(4)->first == 2);
  CHECK(checkpoints.before(2) == nullptr);
}

TEST_CASE("trace: what was played ahead is gone back to without the snapshots of the file", "[trace]") {
  const TemporaryFolder folder;
  Recording recording(folder / "run.trace");
  work(recording, 700);
  recording.recorder->end(0);
  trace::Trace recorded = read_back(folder / "run.trace");
  REQUIRE_FALSE(recorded.snapshots.empty());
  for (trace::Snapshot& snapshot : recorded.snapshots) snapshot.packed = "damaged";
  trace::Checkpoints checkpoints;
  const auto jumping = trace::Replay::open(recorded, recording.options, checkpoints).value();
  CHECK_FALSE(jumping->go_to(700));
  const auto ahead = trace::Replay::open(recorded, recording.options, checkpoints).value();
  for (std::size_t n = 1; n <= 700; ++n) REQUIRE(ahead->go_to(n));
  for (const std::size_t n : {std::size_t{700}, std::size_t{300}, std::size_t{699}}) {
    REQUIRE(jumping->go_to(n));
    CHECK(jumping->played().state == jumping->played().recorded);
  }
}

TEST_CASE("trace: no secret is in the file, and issued keys work in the replay", "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.trace";
  Recording recording(path);
  const Json key = recording.ask("POST", "/_mock/keys", Json::object());
  const std::string secret = key.at("secret");
  const Json made = recording.ask("POST", "/v1/documents", {{"title", "Mine"}, {"content", secret}}, secret);
  CHECK(find_text(made, "id"));
  recording.ask("GET", "/v1/me", nullptr, "wsk_nobody-knows-this-key");
  recording.ask("POST", "/v1/documents:none?token=" + secret);
  const std::string text = text_of(path);
  CHECK_THAT(text, !Contains(secret) && !Contains(recording.application->sandbox().built_in.token));
  CHECK_THAT(text, !Contains(secret.substr(4)) && !Contains("nobody-knows"));
  const trace::Trace recorded = read_back(path);
  CHECK(recorded.events.at(2).status == 401);
  trace::Checkpoints checkpoints;
  const auto replay = trace::Replay::open(recorded, recording.options, checkpoints).value();
  for (std::size_t n = 1; n <= recorded.requests.size(); ++n) {
    CAPTURE(n);
    REQUIRE(replay->go_to(n));
    CHECK(replay->played().state == replay->played().recorded);
    CHECK(replay->played().status == recorded.events[recorded.requests[n - 1]].status);
  }
}

TEST_CASE("trace: a key that the world did not issue is in no text of the file, the rest is replayed", "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.trace";
  Recording recording(path);
  const std::string foreign = "wsk_of-another-service_0123456789";
  recording.ask("POST", "/v1/documents", {{"title", "Mine"}, {"content", "it said " + foreign + " to all"}});
  recording.ask("GET", "/v1/search?query=" + foreign);
  const std::string text = text_of(path);
  CHECK_THAT(text, !Contains(foreign) && !Contains("another-service"));
  CHECK_THAT(text, Contains("it said wsk_") && Contains(" to all"));
  const trace::Trace recorded = read_back(path);
  trace::Checkpoints checkpoints;
  const auto replay = trace::Replay::open(recorded, recording.options, checkpoints).value();
  for (std::size_t n = 1; n <= recorded.requests.size(); ++n) {
    REQUIRE(replay->go_to(n));
    CHECK(replay->played().status == recorded.events[recorded.requests[n - 1]].status);
  }
}

TEST_CASE("trace: fixed keys are not in the file, and a replay has its own for them, also from a snapshot on",
          "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.trace";
  const std::string ada = "wsk_example_ada_every_scope_0000001";
  const std::string bob = "a-fixed-key-of-bob-0000002";
  const Json people = {{{"email", "ada@x.com"}}, {{"email", "bob@x.com"}}};
  const Json members = {{{"person", "ada@x.com"}, {"role", "owner"}}, {{"person", "bob@x.com"}}};
  const Json keys = {{{"person", "ada@x.com"}, {"secret", ada}}, {{"person", "bob@x.com"}, {"secret", bob}}};
  Recording recording(path,
                      {{{"people", people}, {"workspaces", {{{"name", "W"}, {"members", members}}}}, {"keys", keys}}});
  recording.usual_key = ada;
  CHECK(recording.ask("GET", "/v1/me", nullptr, bob).at("user").at("email") == "bob@x.com");
  work(recording, 600);
  CHECK(recording.ask("GET", "/v1/me", nullptr, bob).at("user").at("email") == "bob@x.com");
  CHECK_THAT(text_of(path), !Contains("every_scope") && !Contains("fixed-key"));
  const trace::Trace recorded = read_back(path);
  REQUIRE_FALSE(recorded.snapshots.empty());
  ApplicationOptions options = recording.options;
  options.sandbox.fixtures = Fixtures::of_all(recorded.start->at("flags").at("fixtures")).value();
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}, recorded.requests.size()}) {
    CAPTURE(n);
    trace::Checkpoints checkpoints;
    const auto replay = trace::Replay::open(recorded, options, checkpoints).value();
    REQUIRE(replay->go_to(n));
    CHECK(replay->played().status == recorded.events[recorded.requests[n - 1]].status);
    CHECK(replay->played().state == replay->played().recorded);
    CHECK_FALSE(replay->first_difference());
  }
}

TEST_CASE("trace: what the contract calls a secret is in no part of a request", "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.trace";
  Recording recording(path);
  const std::string canary = "314159canary";
  const std::string random = "q8Zr2LkP0vTn5YwXc3Jd7Hs1";
  recording.ask("GET", "/v1/me?token=" + canary + "&x=" + random);
  recording.ask("GET", "/v1/nowhere/" + random);
  recording.ask("POST", "/v1/search", {{"query", "tides"}, {"password", canary}, {"list", {random}}});
  recording.ask("POST", "/v1/documents", {{"title", "T"}, {"content", "the words stay"}, {"api_key", canary}});
  CHECK_THAT(text_of(path), !Contains(canary) && !Contains(random) && Contains("the words stay"));
  trace::SecretNames secrets(1, "");
  CHECK(secrets.hide_body("a=b&password=" + canary, true) == "a=b&password=000000000000");
  const std::string malformed = "{\"password\": \"" + canary + "\", ";
  CHECK(secrets.hide_body(malformed, false) == std::string(malformed.size(), '?'));
  CHECK(secrets.hide_body("{ \"title\":\"as it was\" }", false) == "{ \"title\":\"as it was\" }");
  const trace::Trace recorded = read_back(path);
  trace::Checkpoints checkpoints;
  const auto replay = trace::Replay::open(recorded, recording.options, checkpoints).value();
  REQUIRE(replay->go_to(recorded.requests.size()));
  CHECK(replay->played().status == 201);
  CHECK_FALSE(replay->first_difference());
}

TEST_CASE("trace: clocks, resets, snapshots, faults and other sandboxes are replayed, too", "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.trace";
  Recording recording(path);
  const Json document = {{"title", "Note"}, {"content", "text"}};
  recording.ask("POST", "/v1/documents", document);
  recording.ask("POST", "/_mock/snapshots/one");
  recording.ask("POST", "/_mock/faults", {{"operation", "docs.create"}, {"status", 503}, {"times", 1}});
  recording.ask("POST", "/v1/documents", document);
  recording.ask("POST", "/v1/documents", document);
  recording.ask("POST", "/_mock/snapshots/one:restore");
  recording.ask("PUT", "/_mock/clock", {{"clock", "offset:+2h"}});
  const Json sandbox = recording.ask("POST", "/_mock/sandboxes", Json::object());
  recording.ask("POST", "/_s/" + sandbox.at("id").get<std::string>() + "/v1/documents", document);
  recording.ask("POST", "/_mock/reset", Json::object());
  recording.ask("POST", "/v1/documents", document);
  const trace::Trace recorded = read_back(path);
  trace::Checkpoints checkpoints;
  const auto replay = trace::Replay::open(recorded, recording.options, checkpoints).value();
  for (const std::size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 4, 10}) {
    CAPTURE(n);
    REQUIRE(replay->go_to(n));
    CHECK(replay->played().state == replay->played().recorded);
    CHECK(replay->played().status == recorded.events[recorded.requests[n - 1]].status);
  }
}

TEST_CASE("trace: a body of which the trace has only the beginning is told", "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.trace";
  Recording recording(path);
  recording.ask("POST", "/v1/documents", {{"title", "Long"}, {"content", std::string(1'200'000, 'x')}});
  const trace::Trace recorded = read_back(path);
  REQUIRE(recorded.events.front().cut);
  CHECK(*recorded.events.front().cut > 1'200'000);
  CHECK(recorded.events.front().body.size() == trace::kept_body_bytes);
}

TEST_CASE("trace: a file that is no trace is refused, naming the line", "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "hostile.trace";
  const std::string start = R"({"ws_trace":1,"started_at":1,"base_url":"http://127.0.0.1:1","flags":{"seed":1}})";
  const std::string request =
      R"({"n":1,"t":1,"head":"GET /v1/me HTTP/1.1\r\n\r\n","status":200,"state":"0123456789abcdef"})";
  const auto [text, why] = GENERATE_COPY(table<std::string, std::string>({
      {"", "is empty"},
      {"SQLite format 3\n", ":1: "},
      {"[]\n", ":1: "},
      {"{}\n", "no ws_trace"},
      {R"({"ws_trace":2})"
       "\n",
       "version 2"},
      {R"({"ws_trace":1,"started_at":-1,"flags":{}})"
       "\n",
       "started_at"},
      {R"({"ws_trace":1,"started_at":1,"base_url":"file:///etc","flags":{}})"
       "\n",
       "base_url"},
      {start + "\n[1]\n", ":2: "},
      {start + "\n{\"n\":2,\"t\":1}\n", "next request is 1"},
      {start + "\n{\"n\":1,\"t\":1,\"head\":\"x\"}\n", "head"},
      {start + "\n{\"resume\":7,\"t\":1}\n", "earlier request"},
      {start + "\n" + request + "\n{\"snapshot\":\"AAAA\",\"after\":5,\"requests\":1,\"state\":\"\"}\n", ":3: "},
      {start + "\n" + R"({"n":1,"t":1,"head":"GET / HTTP/1.1\r\n","body64":"*","state":"0123456789abcdef"})" + "\n",
       "base64"},
      {start + "\n{\"end\":0}\n" + request + "\n", "nothing may follow the end"},
  }));
  std::ofstream(path) << text;
  const auto read = trace::Trace::read(path);
  REQUIRE_FALSE(read);
  CHECK_THAT(read.error().what, Contains(why));
  const Ended opened = run_command({.arguments = {program("ws-mock"), "open", path}});
  CHECK(opened.exit == 2);
  CHECK_THAT(opened.err, Contains(why));
}

TEST_CASE("trace: damaged snapshots, wrong heads and wrong flags are refused when they are replayed", "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "hostile.trace";
  const std::string state = R"("state":"0123456789abcdef")";
  const std::string one = R"({"n":1,"t":1,"head":"GET /v1/me HTTP/1.1\r\n\r\n","status":200,)" + state + "}\n";
  const std::string two = R"({"n":2,"t":1,"head":"GET /v1/me HTTP/1.1\r\n\r\n","status":200,)" + state + "}\n";
  const auto start = [](const std::string& flags) {
    return R"({"ws_trace":1,"started_at":1,"base_url":"http://127.0.0.1:1","flags":)" + flags + "}\n";
  };
  const std::string text = GENERATE_COPY(
      start("{}") + one,
      start(R"({"seed":1,"clock":"yesterday"})") + one,
      start(R"({"seed":1,"assume":["no_such_switch=1"]})") + one,
      start(R"({"seed":1,"fixtures":[{"documents":[{"no":"title"}]}]})") + one,
      start(R"({"seed":1,"faults":[{"operation":7}]})") + one,
      start(R"({"seed":1})") + R"({"n":1,"t":1,"head":"GET /v1/me HTTP/1.1\nx: y\r\n\r\n",)" + state + "}\n",
      start(R"({"seed":1})") + one + R"({"snapshot":"AAAA","after":1,"requests":1,)" + state + "}\n" + two);
  CAPTURE(text);
  std::ofstream(path) << text;
  const Ended served = run_command({.arguments = {program("ws-mock"), "serve", "--idle-exit", "1s", "--trace", path}});
  CHECK(served.exit == 2);
  CHECK_FALSE(served.err.empty());
}

TEST_CASE("trace: exec records, serve stands at a moment, open shows it", "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.trace";
  const std::string create =
      "curl -s -o /dev/null -H \"Authorization: Bearer $WS_TOKEN\" -H 'Content-Type: application/json' "
      "-d '{\"title\": \"Tides\", \"content\": \"High water at six.\"}' $WS_BASE_URL/v1/documents; ";
  const std::string list = "curl -s -H \"Authorization: Bearer $WS_TOKEN\" $WS_BASE_URL/v1/documents/none; exit 7";
  const Ended ended =
      run_command({.arguments = {program("ws-mock"), "exec", "--trace", path, "--", "sh", "-c", create + list}});
  INFO(ended.err);
  CHECK(ended.exit == 7);
  const trace::Trace recorded = read_back(path);
  CHECK(recorded.exit == 7);
  CHECK(recorded.requests.size() == 2);
  const auto documents_at = [&](const char* at) {
    const MockProcess mock({"serve", "--trace", path, "--at", at});
    const RawAnswer answer = mock.ask({.target = "/v1/documents?limit=100", .token = mock.token()});
    CHECK(answer.status == 200);
    return parse_bounded(answer.body).value().at("data").size();
  };
  CHECK(documents_at("0") + 1 == documents_at("1"));
  CHECK(run_command({.arguments = {program("ws-mock"), "serve", "--trace", path, "--at", "3"}}).exit == 2);
  CHECK(run_command({.arguments = {program("ws-mock"), "serve", "--at", "3"}}).exit == 2);

  Running open({.arguments = {program("ws-mock"), "open", path}});
  REQUIRE(open.wait_for("http://127.0.0.1:"));
  const auto port = static_cast<std::uint16_t>(std::stoi(open.so_far().out.substr(17)));
  const auto get = [&](const std::string& target, const std::vector<std::string>& headers = {}) {
    return ask(port, {.target = target, .headers = headers});
  };
  const Json listed = parse_bounded(get("/_trace").body).value();
  CHECK(listed.at("first_failed") == 2);
  CHECK(listed.at("exit") == 7);
  const Json moment = parse_bounded(get("/_trace/1").body).value();
  CHECK(moment.at("same") == true);
  CHECK_THAT(dump(moment.at("changes")), Contains("High water at six."));
  CHECK_THAT(get("/_trace/1/state").body, Contains("High water at six."));
  CHECK_THAT(get("/_trace/0/state").body, !Contains("High water at six."));
  CHECK_THAT(get("/").body, Contains("trace.js"));
  CHECK(get("/_trace/3").status == 404);
  CHECK(get("/_trace", {"Origin: http://evil.example"}).status == 403);
  open.signal(SIGTERM);
  CHECK(open.wait().exit == 0);
}

TEST_CASE("trace: the command on the page has the file's name as one word of the shell", "[trace]") {
  const TemporaryFolder folder;
  const std::string name = GENERATE("a b.trace", "x'; touch made; '.trace", "$(touch made).trace", "-n\n;touch made");
  CAPTURE(name);
  {
    const Recording recording(folder / name);
    recording.recorder->end(0);
  }
  Running open({.arguments = {program("ws-mock"), "open", (folder / name).string()}});
  REQUIRE(open.wait_for("http://127.0.0.1:"));
  const auto port = static_cast<std::uint16_t>(std::stoi(open.so_far().out.substr(17)));
  const Json listed = parse_bounded(ask(port, {.target = "/_trace"}).body).value();
  open.signal(SIGTERM);
  open.wait();
  const std::string command = listed.at("serve");
  CHECK(command.starts_with("ws-mock serve --trace"));
  const std::string words = "ws-mock() { local last=\"${*: -1}\"; printf %s \"${last#--trace=}\"; }; " + command;
  CHECK(run_command({.arguments = {"bash", "-c", words}, .folder = folder.path()}).out == name);
  CHECK_FALSE(std::filesystem::exists(folder / "made"));
}

TEST_CASE("trace: one that names more secrets than its requests can issue is refused with the bound", "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "hostile.trace";
  const std::string name =
      GENERATE("token:999999", "user_code:999999", "token@s1:70000", "lease_token:18446744073709551615");
  std::ofstream(path) << R"({"ws_trace":1,"started_at":1,"base_url":"http://127.0.0.1:1","flags":{"seed":1}})"
                      << "\n"
                      << R"({"n":1,"t":1,"head":"GET /v1/me HTTP/1.1\r\nX: \u0001)" << name
                      << R"(\u0001\r\n\r\n","status":200,"state":"0123456789abcdef"})"
                      << "\n";
  for (const std::string command : {"open", "serve"}) {
    std::vector<std::string> words = {program("ws-mock"), command, "--idle-exit", "1s"};
    if (command == "serve") words.emplace_back("--trace");
    words.push_back(path);
    const Ended ended = run_command({.arguments = words, .timeout = std::chrono::seconds(20)});
    CAPTURE(command, ended.err);
    CHECK(ended.exit == 2);
    CHECK_THAT(ended.err, Contains("its requests allow at most"));
    CHECK(ended.peak_kib < 200'000);
  }
}

TEST_CASE("trace: user codes and the secrets of sandboxes are not in the file, and a replay has them", "[trace]") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.trace";
  std::string code;
  std::string token;
  {
    Recording recording(path);
    code = recording
               .ask("POST",
                    "/v1/auth/device-authorizations",
                    {{"client_name", "a test"}, {"cli_version", "1"}, {"scopes", {"documents:read"}}})
               .at("user_code");
    recording.ask("POST", "/_mock/devices/" + code + ":approve");
    token = recording.ask("POST", "/_mock/sandboxes", Json::object()).at("token");
    recording.ask("GET", "/_s/s1/v1/me", nullptr, token);
    recording.recorder->end(0);
  }
  const std::string text = text_of(path);
  CHECK(text.find(code) == std::string::npos);
  CHECK(text.find(token) == std::string::npos);
  CHECK(text.find(token.substr(4)) == std::string::npos);
  const trace::Trace read = trace::Trace::read(path).value();
  ApplicationOptions options;
  trace::Checkpoints checkpoints;
  const auto replay = trace::Replay::open(read, options, checkpoints).value();
  REQUIRE(replay->go_to(read.requests.size()));
  CHECK(replay->played().status == 200);
  CHECK_FALSE(replay->first_difference());
}
