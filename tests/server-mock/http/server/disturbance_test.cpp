#include "server-mock/http/disturbance.hpp"

#include <atomic>
#include <chrono>

#include <catch2/catch.hpp>

#include "tests/server-mock/http/server/scripted_server.hpp"
#include "tests/support/raw_http.hpp"

using namespace ws::mock::http;
using namespace ws::mock::test;
using namespace std::chrono_literals;
using ws::test::RawConnection;
using End = RawConnection::End;

namespace {

constexpr const char* disturbed = "GET /disturbed HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr const char* usual = "GET /usual HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr const char* head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n";

/// Disturbs what asks for it, and counts what it was asked.
Script disturbing(const Disturbance& disturbance, std::atomic<int>& asked) {
  Script script;
  script.answer = [disturbance, &asked](const Request& request) {
    ++asked;
    Response response = text_answer("hello");
    if (request.path == "/disturbed") response.disturb(disturbance);
    return response;
  };
  return script;
}

struct Seen {
  RawConnection::Rest rest = {};
  int asked = 0;
  std::chrono::milliseconds took{0};
};

/// What a client sees that sends a usual request, a disturbed one and one more, all at once.
Seen send_three(const Disturbance& disturbance, std::chrono::milliseconds at_most = 5s) {
  Seen seen;
  std::atomic<int> asked = 0;
  Script script = disturbing(disturbance, asked);
  ScriptedServer server(script);
  RawConnection connection(server.port());
  const auto start = std::chrono::steady_clock::now();
  connection.send(std::string(usual) + disturbed + usual);
  REQUIRE(connection.read().value().body == "hello");
  seen.rest = connection.read_rest(at_most);
  seen.took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  seen.asked = asked;
  return seen;
}

}  // namespace

TEST_CASE("disturbance: a delayed answer comes late and whole, those behind it after it", "[server-mock]") {
  const std::string whole = std::string(head) + "hello";
  const Seen seen = send_three({.delay = 300ms}, 3s);
  CHECK(seen.rest.bytes == whole + whole);
  CHECK(seen.took >= 300ms);
  CHECK(seen.asked == 3);
}

TEST_CASE("disturbance: a delay and a hang hold up no other connection", "[server-mock]") {
  std::atomic<int> asked = 0;
  const auto end = GENERATE(Disturbance::End::as_usual, Disturbance::End::hang);
  Script script = disturbing({.end = end, .delay = 20s}, asked);
  ScriptedServer server(script);
  RawConnection late(server.port());
  late.send(disturbed);
  CHECK(ws::test::ask(server.port(), {.target = "/usual"}).body == "hello");
}

TEST_CASE("disturbance: a reset is a reset, and answers before it have arrived", "[server-mock]") {
  const Seen seen = send_three({.end = Disturbance::End::reset, .delay = 50ms});
  CHECK(seen.rest.end == End::reset);
  CHECK(seen.rest.bytes.empty());
  CHECK(seen.asked == 2);
}

TEST_CASE("disturbance: closed without an answer is an orderly end without a byte", "[server-mock]") {
  const Seen seen = send_three({.end = Disturbance::End::close_without_answer});
  CHECK(seen.rest.end == End::closed);
  CHECK(seen.rest.bytes.empty());
}

TEST_CASE("disturbance: a truncated body ends where it was told, and the connection with it", "[server-mock]") {
  const auto bytes = GENERATE(0U, 3U, 5U, 99U);
  const Seen seen = send_three({.truncate_at = bytes});
  CHECK(seen.rest.bytes == std::string(head) + std::string("hello").substr(0, bytes));
  CHECK(seen.rest.end == End::closed);
  CHECK(seen.asked == 2);
}

TEST_CASE("disturbance: a wrong length is told, the body is sent as it is, the connection ends", "[server-mock]") {
  const auto told = GENERATE(2U, 1000U);
  const Seen seen = send_three({.content_length = told});
  const std::string wrong = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(told);
  CHECK(seen.rest.bytes == wrong + "\r\n\r\nhello");
  CHECK(seen.rest.end == End::closed);
}

TEST_CASE("disturbance: a dribbling answer comes in its pieces and is whole at the end", "[server-mock]") {
  const Seen seen = send_three({.dribble_bytes = 7, .dribble_every = 20ms}, 3s);
  const std::string whole = std::string(head) + "hello";
  CHECK(seen.rest.bytes == whole + whole);
  CHECK(seen.took >= 20ms * (static_cast<int>(whole.size()) / 7 - 1));
}

TEST_CASE("disturbance: hanging lasts until the client goes, however impatient the server is with others",
          "[server-mock]") {
  std::atomic<int> asked = 0;
  Script script = disturbing({.end = Disturbance::End::hang}, asked);
  ScriptedServer server(script, {.idle = 500ms, .slow = 500ms});
  RawConnection hanging(server.port());
  hanging.send(disturbed);
  hanging.send(usual);
  const auto rest = hanging.read_rest(1500ms);
  CHECK(rest.end == End::none);
  CHECK(rest.bytes.empty());
  CHECK(asked == 1);
}

TEST_CASE("disturbance: neither a delay nor dribbling counts as a slow client", "[server-mock]") {
  std::atomic<int> asked = 0;
  Script script = disturbing({.delay = 1s, .dribble_bytes = 30, .dribble_every = 700ms}, asked);
  ScriptedServer server(script, {.idle = 500ms, .slow = 500ms});
  RawConnection late(server.port());
  late.send(disturbed);
  CHECK(late.read().value().body == "hello");
}

TEST_CASE("disturbance: stopping ends what hangs and sends at once what is late", "[server-mock]") {
  std::atomic<int> asked = 0;
  Script script;
  script.answer = [&asked](const Request& request) {
    ++asked;
    Response response = text_answer("hello");
    if (request.path == "/hang") response.disturb({.end = Disturbance::End::hang});
    if (request.path == "/late") response.disturb({.delay = 60s});
    if (request.path == "/dribble") response.disturb({.dribble_bytes = 1, .dribble_every = 60s});
    return response;
  };
  ScriptedServer server(script);
  RawConnection hanging(server.port());
  RawConnection late(server.port());
  RawConnection dribbling(server.port());
  hanging.send("GET /hang HTTP/1.1\r\nHost: h\r\n\r\n");
  late.send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n");
  dribbling.send("GET /dribble HTTP/1.1\r\nHost: h\r\n\r\n");
  while (asked < 3) CHECK(ws::test::ask(server.port(), {.target = "/"}).status == 200);
  const auto start = std::chrono::steady_clock::now();
  server.stop();
  CHECK(late.read().value().body == "hello");
  CHECK(dribbling.read().value().body == "hello");
  CHECK(hanging.read_rest().end == End::closed);
  server.wait();
  CHECK(std::chrono::steady_clock::now() - start < 30s);
}

TEST_CASE("disturbance: HEAD and an answer without a body have nothing to truncate", "[server-mock]") {
  std::atomic<int> asked = 0;
  Script script = disturbing({.truncate_at = 2}, asked);
  ScriptedServer server(script);
  RawConnection connection(server.port());
  connection.send("HEAD /disturbed HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(connection.read_rest().bytes == head);
}
