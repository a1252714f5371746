// Logs, journal files and recordings that nobody can write to or nobody reads: they cost the log and nothing else.
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"
#include "tests/support/mock_process.hpp"

using namespace ws::test;

namespace {

constexpr int many = 3000;

/// A program whose standard error is broken in one way.
struct Broken {
  enum class How { closed, full, unread_pipe, reader_gone, unread_socket, socket_gone };

  Broken(std::vector<std::string> command, How how) {
    int out[2];
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    int err[2] = {-1, -1};
    if (how == How::unread_pipe || how == How::reader_gone) REQUIRE(::pipe2(err, O_CLOEXEC) == 0);
    if (how == How::unread_socket || how == How::socket_gone) {
      REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, err) == 0);
    }
    if (how == How::full) err[1] = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    std::vector<char*> words;
    for (std::string& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    pid = ::fork();
    if (pid == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      if (how == How::closed) ::close(STDERR_FILENO);
      if (err[1] >= 0) ::dup2(err[1], STDERR_FILENO);
      ::execv(words.front(), words.data());
      ::_exit(127);
    }
    ::close(out[1]);
    if (err[1] >= 0) ::close(err[1]);
    if (how == How::reader_gone || how == How::socket_gone) ::close(err[0]);
    reader = err[0];
    std::string line;
    for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
    ::close(out[0]);
    port = static_cast<std::uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)));
  }
  Broken(const Broken&) = delete;
  Broken& operator=(const Broken&) = delete;
  ~Broken() {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    ::close(reader);
  }

  /// Ends it by TERM; the exit code, and how long it took.
  std::pair<int, std::chrono::milliseconds> end() {
    const auto begin = std::chrono::steady_clock::now();
    ::kill(pid, SIGTERM);
    int status = 0;
    ::waitpid(pid, &status, 0);
    pid = -1;
    const auto took = std::chrono::steady_clock::now() - begin;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            std::chrono::duration_cast<std::chrono::milliseconds>(took)};
  }

  pid_t pid = -1;
  int reader = -1;
  std::uint16_t port = 0;
};

/// How many of the requests were answered with the status; on one connection.
int answered(std::uint16_t port, const RawRequest& request, int status, int count) {
  RawConnection client(port);
  int found = 0;
  for (int i = 0; i < count; ++i) {
    client.send(render(request));
    const auto answer = client.read();
    if (!answer) return found;
    found += answer->status == status ? 1 : 0;
  }
  return found;
}

using How = Broken::How;

How any_way() {
  return GENERATE(How::closed, How::full, How::unread_pipe, How::reader_gone, How::unread_socket, How::socket_gone);
}

void check_end(Broken& program, int exit) {
  const auto [code, took] = program.end();
  CHECK(code == exit);
  CHECK(took < std::chrono::milliseconds(1500));
}

}  // namespace

TEST_CASE("ws-mock: no state of standard error costs an answer, and /_mock/health counts the lost lines",
          "[server-mock]") {
  const How how = any_way();
  CAPTURE(static_cast<int>(how));
  Broken mock({program("ws-mock"), "--log", GENERATE("text", "json")}, how);
  const std::string longest(200, 'x');
  CHECK(answered(mock.port, {.target = "/v1/documents/" + longest}, 401, many) == many);
  const auto health = nlohmann::json::parse(ask(mock.port, {.target = "/_mock/health"}).body);
  if (how != How::unread_pipe && how != How::unread_socket) {
    CHECK(health.at("lost_lines").at("log") >= many);
  }
  check_end(mock, 0);
}

TEST_CASE("ws-mock: a full pipe that nobody reads loses lines beyond a bound, and its reader gets the first ones",
          "[server-mock]") {
  Broken mock({program("ws-mock")}, How::unread_pipe);
  const std::string longest(4000, 'x');
  CHECK(answered(mock.port, {.target = "/v1/documents/" + longest}, 401, 600) == 600);
  const auto health = nlohmann::json::parse(ask(mock.port, {.target = "/_mock/health"}).body);
  CHECK(health.at("lost_lines").at("log") > 0);
  std::string first(8000, '\0');
  REQUIRE(::read(mock.reader, first.data(), first.size()) > 4000);
  CHECK(first.substr(0, 12) == "401 GET /v1/");
  check_end(mock, 0);
}

TEST_CASE("ws-mock exec: no state of its standard error costs the command an answer", "[server-mock]") {
  const How how = any_way();
  CAPTURE(static_cast<int>(how));
  Broken exec({program("ws-mock"), "exec", "--log", "text", "--", "sh", "-c", "echo $WS_BASE_URL; exec sleep 60"}, how);
  CHECK(answered(exec.port, {.target = "/v1/me"}, 401, many) == many);
  check_end(exec, 128 + SIGTERM);
}

TEST_CASE("ws-mock record: neither a broken standard error nor a broken recording costs an answer", "[server-mock]") {
  const MockProcess service;
  TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const How how = any_way();
  const std::string usual = (folder / "out.jsonl").string();
  const std::string out = std::vector<std::string>{pipe, "/dev/full", usual}.at(GENERATE(0U, 1U, 2U));
  CAPTURE(static_cast<int>(how), out);
  Broken record({program("ws-mock"), "record", "--to", service.base_url(), "--out", out}, how);
  CHECK(answered(record.port, {.target = "/v1/me", .token = service.token()}, 200, 300) == 300);
  check_end(record, 0);
}

TEST_CASE("ws-mock: no state of the journal's file and of a trace costs an answer", "[server-mock]") {
  TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string file = GENERATE(false, true) ? pipe : "/dev/full";
  MockProcess mock({"--journal-file", file});
  CHECK(answered(mock.port(), {.target = "/v1/me", .token = mock.token()}, 200, many) == many);
  const auto health = nlohmann::json::parse(mock.ask({.target = "/_mock/health"}).body);
  CHECK(health.at("lost_lines").at("journal_file") > 0);
  CHECK(mock.end(SIGTERM).exit == 0);
  Broken exec({program("ws-mock"), "exec", "--trace", file, "--", "sh", "-c", "echo $WS_BASE_URL; exec sleep 60"},
              How::full);
  CHECK(answered(exec.port, {.target = "/v1/me"}, 401, many) == many);
  check_end(exec, 128 + SIGTERM);
}

TEST_CASE("ws-mock: the lines of the journal's file are whole, whatever the pace of its reader", "[server-mock]") {
  TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  MockProcess mock({"--journal-file", pipe});
  CHECK(answered(mock.port(), {.target = "/v1/me", .token = mock.token()}, 200, 400) == 400);
  // More than the pipe holds waits; the rest comes without another request.
  std::ifstream reader(pipe);
  std::string line;
  for (int i = 1; i <= 400; ++i) {
    REQUIRE(std::getline(reader, line));
    CHECK(nlohmann::json::parse(line).at("seq") == i);
  }
}

TEST_CASE("ws-mock: what cannot be printed is told by the exit code", "[server-mock]") {
  const auto run = [](const std::string& line) {
    return run_command({.arguments = {"/bin/bash", "-c", line, "-", program("ws-mock")}}).exit;
  };
  CHECK(run("\"$1\" openapi >/dev/full") == 14);
  CHECK(run("\"$1\" openapi >&-") == 14);
  CHECK(run("\"$1\" openapi | true; exit ${PIPESTATUS[0]}") == 141);
}

TEST_CASE("ws-mock: a device that a flag names for output is written into, and stays", "[server-mock]") {
  TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const ws::Descriptor reader(::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  const std::string flag = GENERATE("--ready-file", "--report");
  CAPTURE(flag);
  const Ended ended =
      run_command({.arguments = {program("ws-mock"), "exec", "--log", "off", flag, pipe, "--", "true"}});
  CHECK(ended.exit == 0);
  char text[4096];
  CHECK(::read(reader.get(), text, sizeof text) > 0);
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("ws-mock: no name, request, fixture or error brings a terminal a control sequence", "[server-mock]") {
  TemporaryFolder folder;
  const auto is_clean = [](const std::string& text) {
    CAPTURE(text);
    return text.find('\x1b') == std::string::npos && text.find('\x07') == std::string::npos &&
           text.find("\xc2\x9b") == std::string::npos && text.find("\xe2\x80\xae") == std::string::npos;
  };
  const std::string evil = "k\x1b]0;X\x07\xc2\x9b[31m\xe2\x80\xae";
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), program("ws-mock"));
    const Ended ended = run_command({.arguments = arguments});
    CHECK(is_clean(ended.out + ended.err));
    return ended.exit;
  };
  const std::string fixtures = (folder / "y.yaml").string();
  std::ofstream(fixtures) << "\"k\\e]0;X\\a\": 1\n";
  CHECK(run({"check", fixtures}) == 2);
  CHECK(run({"check", (folder / evil).string()}) == 2);
  CHECK(run({"--fixtures", evil}) == 2);
  CHECK(run({evil}) == 2);
  CHECK(run({"--" + evil}) == 2);
  CHECK(run({"--faults", evil}) != 0);
  CHECK(run({"--assume", evil}) == 2);
  CHECK(run({"open", evil}) != 0);
  CHECK(run({"exec", "--", evil}) == 127);
  const std::string recording = (folder / "r.jsonl").string();
  std::ofstream(recording) << "{\"k\\u001b]0;X\\u0007\": 1}\n" << evil << "\n";
  CHECK(run({"diff", "--recording", recording}) == 2);
  const std::string script = (folder / "say.sh").string();
  std::ofstream(script) << "printf '\\033]0;X\\007\\302\\233[31m'; printf '\\033]0;X\\007' >&2; exit 3\n";
  CHECK(run({"sweep", "--", "sh", script}) == 2);
  Broken log({program("ws-mock")}, How::unread_pipe);
  RawConnection client(log.port);
  client.send(
      "GET /v1/\xc2\x9b"
      "31m\xc2\x9d"
      "0;X\xe2\x80\xae HTTP/1.1\r\nHost: localhost\r\n\r\n");
  REQUIRE(client.read());
  client.send("GET /v1/%1b%5b31m%0a200%20GET HTTP/1.1\r\nHost: localhost\r\n\r\n");
  REQUIRE(client.read());
  std::string logged(4000, '\0');
  const ssize_t got = ::read(log.reader, logged.data(), logged.size());
  REQUIRE(got > 0);
  logged.resize(static_cast<std::size_t>(got));
  CHECK(is_clean(logged));
  CHECK(std::count(logged.begin(), logged.end(), '\n') <= 2);
}
