#include "api-client/http/curl.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/socket.h>

#include "tests/api-client/http/exchanges.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::http;
using ws::test::answer;
using ws::test::CloseConnection;
using ws::test::closed_port;
using ws::test::Dribble;
using ws::test::Hold;
using ws::test::HostileServer;
using ws::test::ResetConnection;
using ws::test::Script;
using ws::test::Seen;
using ws::test::SendBytes;
using Stage = TransportError::Stage;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// Exactly as long as it says.
class TextSource final : public BodySource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  std::uint64_t size_bytes() const override { return text_.size(); }
  Result<std::size_t> read(char* buffer, std::size_t capacity) override {
    const std::size_t piece = std::min(capacity, text_.size() - offset_);
    text_.copy(buffer, piece, offset_);
    offset_ += piece;
    return piece;
  }

 private:
  std::string text_;
  std::size_t offset_ = 0;
};

class BrokenSource final : public BodySource {
 public:
  std::uint64_t size_bytes() const override { return 100; }
  Result<std::size_t> read(char*, std::size_t) override { return fail(Failure::Kind::disk, "the disk is gone"); }
};

}  // namespace

TEST_CASE("curl: a request arrives as it was given", "[http]") {
  HostileServer server([](const Seen&) { return answer(201, R"({"a":1})", {{"X-Request-Id", "r1"}}); });
  const auto transport = make_transport();
  const Response response =
      answered(transport->send({.method = "POST",
                                .url = server.url("/v1/a%2Fb/../c?x=%20"),
                                .headers = {{"Content-Type", "application/json"}, {"X-Empty", ""}},
                                .body = R"({"b":2})"}));
  CHECK(response.status == 201);
  CHECK(response.body == R"({"a":1})");
  CHECK(find_header(response.headers, "x-request-id") == "r1");
  const std::vector<Seen> seen = server.requests();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].method == "POST");
  CHECK(seen[0].target == "/v1/a%2Fb/../c?x=%20");
  CHECK(seen[0].body == R"({"b":2})");
  CHECK(seen[0].header("content-type") == "application/json");
  CHECK(seen[0].header("x-empty") == "");
  CHECK(seen[0].header("accept-encoding") == "identity");
  CHECK_FALSE(seen[0].header("expect"));
  CHECK_FALSE(seen[0].header("user-agent"));
}

TEST_CASE("curl: packed answers are asked for of other machines", "[http]") {
  HostileServer server([](const Seen&) { return answer(200, "{}"); });
  std::string url = server.url("/");
  // The address of this machine by a name that is not known to be its own.
  url.replace(url.find("127.0.0.1"), 9, "0.0.0.0");
  CHECK(answered(make_transport()->send({.url = url})).status == 200);
  CHECK(server.requests().at(0).header("accept-encoding") == "gzip, deflate");
}

TEST_CASE("curl: every method is sent with the framing that it needs", "[http]") {
  HostileServer server([](const Seen&) { return answer(200, "{}"); });
  const auto transport = make_transport();
  struct Row {
    std::string method, body;
    std::optional<std::string> length;
  };
  const Row row = GENERATE(Row{"GET", "", std::nullopt},
                           Row{"DELETE", "", std::nullopt},
                           Row{"POST", "", "0"},
                           Row{"PUT", "", "0"},
                           Row{"POST", "abc", "3"},
                           Row{"PUT", "abc", "3"},
                           Row{"PATCH", "abc", "3"},
                           Row{"DELETE", "abc", "3"});
  CAPTURE(row.method, row.body);
  CHECK(answered(transport->send({.method = row.method, .url = server.url("/"), .body = row.body})).status == 200);
  REQUIRE(server.requests().size() == 1);
  const Seen seen = server.requests()[0];
  CHECK(seen.method == row.method);
  CHECK(seen.body == row.body);
  CHECK(seen.header("content-length") == row.length);
  CHECK_FALSE(seen.header("content-type"));
  CHECK_FALSE(seen.header("transfer-encoding"));
}

TEST_CASE("curl: what a reused connection swallowed is never sent a second time", "[http]") {
  // The first request warms the connection; the second is read to its end, "committed", and the connection closed.
  std::atomic<int> commits = 0;
  HostileServer server([&](const Seen& seen) -> Script {
    if (seen.number == 1) return answer(200, "{}");
    ++commits;
    return {CloseConnection{}};
  });
  const auto transport = make_transport();
  REQUIRE(answered(transport->send({.url = server.url("/warm")})).status == 200);
  const auto [method, body] = GENERATE(table<std::string, std::string>(
      {{"POST", R"({"x":1})"}, {"POST", ""}, {"GET", ""}, {"PUT", "abc"}, {"DELETE", ""}, {"PATCH", "abc"}}));
  CAPTURE(method, body);
  CHECK(stage_of(transport->send({.method = method, .url = server.url("/"), .body = body})) == Stage::no_answer);
  CHECK(commits == 1);
  CHECK(server.requests().size() == 2);
  CHECK(server.requests().back().connection == 1);
}

TEST_CASE("curl: what a reused connection reset is never sent a second time", "[http]") {
  HostileServer server([&](const Seen& seen) -> Script {
    if (seen.number == 1) return answer(200, "{}");
    return {ResetConnection{}};
  });
  const auto transport = make_transport();
  REQUIRE(answered(transport->send({.url = server.url("/warm")})).status == 200);
  TextSource source("streamed");
  CHECK(stage_of(transport->send({.method = "POST", .url = server.url("/"), .source = &source})) == Stage::no_answer);
  CHECK(server.requests().size() == 2);
}

TEST_CASE("curl: connections are reused, by an exchange that nothing guards only soon after", "[http]") {
  HostileServer server([](const Seen&) { return answer(200, "{}"); });
  const auto transport = make_transport();
  answered(transport->send({.url = server.url("/1")}));
  answered(transport->send({.url = server.url("/2")}));
  CHECK(server.connections() == 1);
  answered(transport->send({.method = "POST", .url = server.url("/3"), .connection = Connection::recent}));
  CHECK(server.connections() == 1);
  std::this_thread::sleep_for(std::chrono::milliseconds{2'050});
  answered(transport->send({.method = "POST", .url = server.url("/4"), .connection = Connection::recent}));
  CHECK(server.connections() == 2);
  CHECK(server.requests()[3].on_connection == 1);
}

TEST_CASE("curl: what was not sent is told from what was not answered", "[http]") {
  const auto transport = make_transport();
  const std::string port = std::to_string(closed_port());
  CHECK(stage_of(transport->send({.url = "http://127.0.0.1:" + port + "/"})) == Stage::nothing_sent);
  CHECK(stage_of(transport->send({.url = "http://no-such-host.invalid/"})) == Stage::nothing_sent);
  CHECK(stage_of(transport->send({.url = "ftp://127.0.0.1/"})) == Stage::nothing_sent);
  CHECK(stage_of(transport->send({.url = "http://user:pw@127.0.0.1/"})) == Stage::nothing_sent);
  CHECK(stage_of(transport->send({.url = "no url"})) == Stage::nothing_sent);
  CHECK(stage_of(transport->send({.url = "http://127.0.0.1:" + port + "/", .headers = {{"X", "a\r\nEvil: 1"}}})) ==
        Stage::nothing_sent);
  CHECK(stage_of(outcome_of("")) == Stage::no_answer);
}

TEST_CASE("curl: the sink takes successful bodies and no others", "[http]") {
  HostileServer server([](const Seen& seen) { return answer(seen.target == "/206" ? 206 : 404, "body"); });
  const auto transport = make_transport();
  std::string taken;
  const auto keep = [&](std::string_view piece) -> Result<void> {
    taken += piece;
    return {};
  };
  const Response failure = answered(transport->send({.url = server.url("/404"), .sink = keep}));
  CHECK(failure.body == "body");
  CHECK(taken.empty());
  const Response success = answered(transport->send({.url = server.url("/206"), .sink = keep}));
  CHECK(success.body.empty());
  CHECK(taken == "body");
}

TEST_CASE("curl: a sink or a source that fails ends the exchange with its own reason", "[http]") {
  HostileServer server([](const Seen&) { return answer(200, "body"); });
  const auto transport = make_transport();
  const auto full = [](std::string_view) -> Result<void> { return fail(Failure::Kind::disk, "no space left"); };
  const Outcome sunk = transport->send({.url = server.url("/"), .sink = full});
  CHECK(stage_of(sunk) == Stage::sink);
  CHECK(std::get<TransportError>(sunk).reason == Failure{.kind = Failure::Kind::disk, .what = "no space left"});
  const auto throws = [](std::string_view) -> Result<void> { throw std::runtime_error("bug"); };
  CHECK(stage_of(transport->send({.url = server.url("/"), .sink = throws})) == Stage::sink);
  BrokenSource source;
  const Outcome sourced = transport->send({.method = "PUT", .url = server.url("/"), .source = &source});
  CHECK(stage_of(sourced) == Stage::sink);
  CHECK(std::get<TransportError>(sourced).reason.what == "the disk is gone");
}

TEST_CASE("curl: a body may come from a source of any size", "[http]") {
  HostileServer server([](const Seen&) { return answer(200, "{}"); });
  const std::string big(3U << 20U, 'x');
  TextSource source(big);
  answered(make_transport()->send({.method = "PUT", .url = server.url("/"), .source = &source}));
  CHECK(server.requests()[0].body == big);
  CHECK_FALSE(server.requests()[0].header("expect"));
}

TEST_CASE("curl: an exchange ends at its timeout, a silent one at its idle timeout", "[http]") {
  HostileServer server([](const Seen& seen) -> Script {
    if (seen.target == "/silent") return {Hold{}};
    if (seen.target == "/stalls") return {SendBytes{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"}, Hold{}};
    return {Dribble{test::response(200, std::string(40, 'x')), 1, milliseconds{20}}};
  });
  const auto transport = make_transport();
  CHECK(stage_of(transport->send({.url = server.url("/silent"), .timeout = milliseconds{500}})) == Stage::no_answer);
  CHECK(stage_of(transport->send(
            {.url = server.url("/silent"), .timeout = milliseconds{0}, .idle_timeout = milliseconds{500}})) ==
        Stage::no_answer);
  CHECK(stage_of(transport->send(
            {.url = server.url("/stalls"), .timeout = milliseconds{0}, .idle_timeout = milliseconds{500}})) ==
        Stage::no_answer);
  // Slow is not silent: it takes longer in all than the idle timeout.
  const Response slow = answered(
      transport->send({.url = server.url("/dribble"), .timeout = milliseconds{0}, .idle_timeout = seconds{2}}));
  CHECK(slow.body.size() == 40);
}

TEST_CASE("curl: a failed handshake is told from an unreachable server", "[http]") {
  HostileServer plain([](const Seen&) { return answer(200, "{}"); },
                      [](int) {
                        return Script{SendBytes{"HTTP/1.1 400 Bad Request\r\n\r\n"}, CloseConnection{}};
                      });
  const std::string url = "https://127.0.0.1:" + std::to_string(plain.port()) + "/";
  CHECK(stage_of(make_transport()->send({.url = url})) == Stage::tls);
  CHECK(plain.requests().empty());
}

TEST_CASE("curl: many at once, in any order, no more connections than allowed", "[http]") {
  HostileServer server([](const Seen& seen) { return answer(200, seen.target); });
  const auto transport = make_transport({.max_connections = 4});
  int right = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string target = "/" + std::to_string(i);
    transport->start({.url = server.url(target)}, [&right, target](Outcome outcome) {
      if (std::get<Response>(outcome).body == target) ++right;
    });
  }
  CHECK(transport->under_way() == 50);
  while (transport->under_way() > 0) transport->run(milliseconds{1000});
  CHECK(right == 50);
  CHECK(server.connections() <= 4);
}

TEST_CASE("curl: an end may begin the next exchange", "[http]") {
  HostileServer server([](const Seen&) { return answer(200, "{}"); });
  const auto transport = make_transport();
  int left = 3;
  std::function<void(Outcome)> next = [&](Outcome) {
    if (--left > 0) transport->start({.url = server.url("/")}, next);
  };
  transport->start({.url = server.url("/")}, next);
  while (transport->under_way() > 0) transport->run(milliseconds{1000});
  CHECK(server.requests().size() == 3);
}

TEST_CASE("curl: cancelling ends all of them, and the transport goes on", "[http]") {
  HostileServer server([](const Seen& seen) { return seen.target == "/hold" ? Script{Hold{}} : answer(200, "{}"); });
  const auto transport = make_transport({.max_connections = 2});
  std::vector<Stage> stages;
  for (int i = 0; i < 5; ++i) {
    transport->start({.url = server.url("/hold")}, [&](Outcome outcome) { stages.push_back(stage_of(outcome)); });
  }
  transport->run(milliseconds{10});
  transport->cancel_all();
  CHECK(stages == std::vector<Stage>(5, Stage::cancelled));
  CHECK(transport->under_way() == 0);
  transport->cancel_all();
  CHECK(answered(transport->send({.url = server.url("/")})).status == 200);
}

TEST_CASE("curl: going away with exchanges under way leaks nothing and calls nobody", "[http]") {
  HostileServer server([](const Seen&) { return Script{Hold{}}; });
  auto transport = make_transport({.max_connections = 1});
  bool called = false;
  for (int i = 0; i < 3; ++i) transport->start({.url = server.url("/")}, [&](Outcome) { called = true; });
  transport->run(milliseconds{10});
  transport.reset();
  CHECK_FALSE(called);
}

TEST_CASE("curl: a missing library is a failure that says what to install", "[http]") {
  const auto made = make_curl_transport({.library = "libcurl-that-nobody-has.so.4"});
  REQUIRE_FALSE(made);
  CHECK(made.error().kind == Failure::Kind::disk);
  CHECK(made.error().what.find("libcurl-that-nobody-has.so.4") != std::string::npos);
  CHECK_FALSE(made.error().hint.empty());
  // A library without curl's functions is no better.
  CHECK_FALSE(make_curl_transport({.library = "libm.so.6"}));
}

TEST_CASE("curl: running with nothing under way lets the time pass", "[http]") {
  const auto transport = make_transport();
  const auto before = std::chrono::steady_clock::now();
  transport->run(milliseconds{20});
  CHECK(std::chrono::steady_clock::now() - before >= milliseconds{19});
}

TEST_CASE("curl: plain http goes to its host and through no proxy", "[http]") {
  const HostileServer proxy([](const Seen&) { return answer(502, "{}"); });
  const HostileServer server([](const Seen&) { return answer(200, "{}"); });
  for (const char* const name : {"http_proxy", "ALL_PROXY"}) ::setenv(name, proxy.origin().c_str(), 1);
  // An address of this machine that is not loopback by its name.
  const Outcome outcome = make_transport()->send({.url = "http://0.0.0.0:" + std::to_string(server.port()) + "/"});
  for (const char* const name : {"http_proxy", "ALL_PROXY"}) ::unsetenv(name);
  CHECK(proxy.requests().empty());
  CHECK(answered(outcome).status == 200);
}

TEST_CASE("curl: no child process inherits a connection", "[http]") {
  const HostileServer server([](const Seen&) { return answer(200, "{}"); });
  const auto transport = make_transport();
  REQUIRE(answered(transport->send({.url = server.url("/")})).status == 200);
  int connections = 0;
  for (int file = 0; file < 256; ++file) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(file, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (peer.sin_family != AF_INET || ntohs(peer.sin_port) != server.port()) continue;
    ++connections;
    CHECK((::fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
  }
  CHECK(connections == 1);
}

TEST_CASE("curl: a header that is none is not sent", "[http]") {
  const HostileServer server([](const Seen&) { return answer(200, "{}"); });
  const std::string name = GENERATE("Host ", " Host", "Authorization\t", "X-A:b", "", "X\r\nY");
  CHECK(stage_of(make_transport()->send({.url = server.url("/"), .headers = {{name, "v"}}})) == Stage::nothing_sent);
  CHECK(server.requests().empty());
}
