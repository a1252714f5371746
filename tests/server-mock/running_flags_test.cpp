// Flags about addresses, tokens and the life of the process.
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/support/mock_process.hpp"

using namespace ws::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

nlohmann::json read_json_file(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return nlohmann::json::parse(stream);
}

/// Until the file is there (gone); false: it never was within ten seconds.
bool comes_to_be(const std::filesystem::path& path, bool there) {
  for (int i = 0; i < 1000; ++i) {
    if (std::filesystem::exists(path) == there) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

Ended run_it(std::vector<std::string> arguments) { return run_command({.arguments = std::move(arguments)}); }

}  // namespace

TEST_CASE("ws-mock --unix: a socket for its owner alone, gone with the server", "[server-mock]") {
  TemporaryFolder folder;
  const std::string path = (folder / "mock.sock").string();
  const std::filesystem::path ready = folder / "ready.json";
  const std::vector<std::string> words = {
      program("ws-mock"), "--unix", path, "--ready-file", ready.string(), "--log", "off"};
  Running mock({.arguments = words});
  REQUIRE(comes_to_be(ready, true));
  const auto told = read_json_file(ready);
  CHECK(told.at("unix") == path);
  CHECK(told.at("port").is_null());
  CHECK(told.at("base_url") == "http://localhost");
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);
  const std::string key = "Authorization: Bearer " + told.at("token").get<std::string>();
  const Ended asked = run_it({"curl", "-sS", "--unix-socket", path, "-H", key, "http://localhost/v1"});
  CHECK(nlohmann::json::parse(asked.out).at("openapi_url") == "http://localhost/openapi.json");
  CHECK(run_it(words).exit == 1);  // somebody listens there
  CHECK(std::filesystem::exists(path));
  mock.signal(SIGTERM);
  CHECK(mock.wait().exit == 0);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("ws-mock --unix: what a dead server left is replaced, what is no socket is not", "[server-mock]") {
  TemporaryFolder folder;
  const std::string path = (folder / "mock.sock").string();
  const std::filesystem::path ready = folder / "ready.json";
  const std::vector<std::string> words = {program("ws-mock"), "--unix", path, "--ready-file", ready.string()};
  for (const int signal : {SIGKILL, SIGTERM}) {
    std::filesystem::remove(ready);
    Running mock({.arguments = words});
    REQUIRE(comes_to_be(ready, true));
    mock.signal(signal);
    mock.wait();
  }
  std::ofstream(path) << "a file of somebody's";
  const Ended refused = run_it(words);
  CHECK(refused.exit == 1);
  CHECK_THAT(refused.err, Contains(path));
  CHECK(std::filesystem::file_size(path) == 20);
  const Ended both = run_it({program("ws-mock"), "--unix", path, "--listen", "127.0.0.1:0"});
  CHECK(both.exit == 2);
  CHECK_THAT(run_it({program("ws-mock"), "--unix", "/tmp/" + std::string(120, 'x')}).err, Contains("too long"));
}

TEST_CASE("ws-mock --idle-exit: ends by itself, but not while a call waits", "[server-mock]") {
  MockProcess mock({"--idle-exit", "1s"});
  const std::string body = R"({"worker_id":"w","wait_seconds":2})";
  RawConnection worker(mock.port());
  worker.send(render({.method = "POST", .target = "/v1/agent-events:claim", .token = mock.token(), .json = body}));
  const auto answer = worker.read();
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(mock.process().wait().exit == 0);  // though the connection was kept
  CHECK(worker.ends());
  for (const char* never : {"0s", "soon", "-1s"}) {
    CHECK(run_it({program("ws-mock"), std::string("--idle-exit=") + never}).exit == 2);
  }
}

TEST_CASE("ws-mock --exit-with-parent: ends when the one that started it does", "[server-mock]") {
  TemporaryFolder folder;
  const std::string ready = (folder / "ready.json").string();
  const std::string script =
      "\"$0\" --exit-with-parent --log off --ready-file \"$1\" >/dev/null & "
      "while ! [ -s \"$1\" ]; do sleep 0.01; done; cat \"$1\"";
  const Ended parent = run_it({"sh", "-c", script, program("ws-mock"), ready});
  CHECK(parent.exit == 0);
  CHECK(nlohmann::json::parse(parent.out).at("pid").get<int>() > 0);
  CHECK(comes_to_be(ready, false));
}

TEST_CASE("ws-mock --exit-with-parent: process 1 of a container is a parent like any other", "[server-mock]") {
  if (run_it({"unshare", "--pid", "--fork", "true"}).exit != 0) {
    WARN("skipped: no process numbers of its own on this machine");
    return;
  }
  const Ended ended = run_it({"unshare",
                              "--pid",
                              "--fork",
                              "sh",
                              "-c",
                              "\"$0\" exec --exit-with-parent -- sh -c 'echo it serves'; exit $?",
                              program("ws-mock")});
  CHECK(ended.exit == 0);
  CHECK(ended.out == "it serves\n");
}

TEST_CASE("ws-mock exec --tls-self-signed: the command trusts the certificate without further words", "[server-mock]") {
  const std::string script =
      "curl -sS -o /dev/null -w '%{http_code}\\n' -H \"Authorization: Bearer $WS_TOKEN\" \"$WS_BASE_URL/v1/me\"; "
      "echo \"$WS_BASE_URL $SSL_CERT_FILE $NODE_EXTRA_CA_CERTS\"";
  const Ended ended = run_it({program("ws-mock"), "exec", "--tls-self-signed", "--", "sh", "-c", script});
  CHECK(ended.exit == 0);
  CHECK(ended.err.empty());
  std::istringstream said(ended.out);
  std::string status;
  std::string base_url;
  std::string ca_file;
  std::string for_node;
  said >> status >> base_url >> ca_file >> for_node;
  CHECK(status == "200");
  CHECK(base_url.starts_with("https://"));
  CHECK(for_node == ca_file);
  REQUIRE_FALSE(ca_file.empty());
  CHECK_FALSE(std::filesystem::exists(ca_file));
}

TEST_CASE("ws-mock --control-token: every control call needs it, shutdown and sandboxes too", "[server-mock]") {
  MockProcess mock({"--control-token", "turnkey"});
  CHECK(read_json_file(mock.ready_file()).at("control_token") == "turnkey");
  for (const char* path : {"/_mock/shutdown", "/_mock/sandboxes", "/_mock/reset", "/_mock/clock:advance"}) {
    CAPTURE(path);
    CHECK(mock.ask({.method = "POST", .target = path}).status == 401);
    CHECK(mock.ask({.method = "POST", .target = path, .token = mock.token()}).status == 401);
  }
  CHECK(mock.ask({.target = "/_mock/requests"}).status == 401);
  CHECK(mock.ask({.method = "POST", .target = "/_mock/shutdown", .token = "turnkey"}).status == 202);
  CHECK(mock.process().wait().exit == 0);
}

TEST_CASE("ws-mock --no-control: there is nothing under /_mock, the inspector neither", "[server-mock]") {
  MockProcess mock({"--no-control"});
  for (const char* path : {"/_mock", "/_mock/health", "/_mock/inspector.js", "/_mock/sandboxes"}) {
    CHECK(mock.ask({.target = path}).status == 404);
  }
  CHECK(read_json_file(mock.ready_file()).at("control_url").is_null());
}

TEST_CASE("ws-mock --fixtures: a folder of Markdown becomes a Project, its folders Pages", "[server-mock]") {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "Handbook" / "Rules" / "At sea");
  std::ofstream(folder / "Handbook" / "Welcome.md") << "# Welcome\n";
  std::ofstream(folder / "Handbook" / "Rules" / "At sea" / "Fog.md") << "Two blasts.\n";
  std::ofstream(folder / "Handbook" / "notes.txt") << "no Markdown\n";
  const std::string path = (folder / "Handbook").string();
  MockProcess mock({"--fixtures", path});
  const auto list = nlohmann::json::parse(mock.ask({.target = "/v1/documents", .token = mock.token()}).body).at("data");
  std::set<std::string> titles;
  for (const auto& one : list) titles.insert(one.at("title"));
  CHECK(titles == std::set<std::string>{"Welcome", "Fog"});
  CHECK_THAT(run_it({program("ws-mock"), "check", path}).out, Contains("documents 2"));
}

TEST_CASE("ws-mock check: all that is wrong with several files, in one go", "[server-mock]") {
  TemporaryFolder folder;
  std::ofstream(folder / "one.yaml") << "people:\n  - {email: 5}\ndocuments:\n  - {title: D, project: Nowhere}\n";
  std::ofstream(folder / "two.json") << "{\"documents\": [\n  {\"title\": \"\"}\n]}\n";
  const Ended ended =
      run_it({program("ws-mock"), "check", (folder / "one.yaml").string(), (folder / "two.json").string()});
  CHECK(ended.exit == 2);
  CHECK_THAT(ended.err, Contains("one.yaml:2:") && Contains("one.yaml:4:") && Contains("two.json:2:"));
}

TEST_CASE("ws-mock --log: a line a request on standard error, as text or JSON, without what is secret",
          "[server-mock]") {
  const std::string calls =
      "set -- -s -o /dev/null -H \"Authorization: Bearer $WS_TOKEN\"; curl \"$@\" \"$WS_BASE_URL/v1/me?q=private\"; "
      "curl \"$@\" -X PUT -d x \"$WS_BASE_URL/uploads/a-secret\"; curl \"$@\" -X POST "
      "\"$WS_BASE_URL/_mock/sandboxes\"; "
      "curl \"$@\" \"$WS_BASE_URL/_s/s1/v1\"";
  const auto lines_with = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> words = {program("ws-mock"), "exec"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "sh", "-c", calls});
    const Ended ended = run_it(words);
    CHECK(ended.exit == 0);
    CHECK(ended.out.empty());
    CHECK_THAT(ended.err, !Contains("private") && !Contains("a-secret") && !Contains("wsk_"));
    std::istringstream text(ended.err);
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  };
  const auto text = lines_with({"--log", "text"});
  REQUIRE(text.size() == 3);
  CHECK_THAT(text.at(0), Catch::Matchers::Matches("200 GET /v1/me me\\.get [0-9.]+ ms"));
  CHECK_THAT(text.at(1), Catch::Matchers::StartsWith("404 PUT /uploads/[redacted] upload.put "));
  CHECK_THAT(text.at(2), Catch::Matchers::StartsWith("401 GET /_s/s1/v1 "));
  const auto json = lines_with({"--log", "json"});
  REQUIRE(json.size() == 3);
  CHECK(nlohmann::json::parse(json.at(2)).at("path") == "/_s/s1/v1");
  CHECK(nlohmann::json::parse(json.at(0)).at("operation") == "me.get");
  CHECK(lines_with({}).empty());
  CHECK(lines_with({"--log", "off"}).empty());
}
