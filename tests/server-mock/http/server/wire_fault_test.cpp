#include <atomic>
#include <chrono>

#include <catch2/catch.hpp>

#include "server-mock/http/message.hpp"
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

/// Applies a wire fault where the path asks for one, and counts requests.
Script disturbing(const WireFault& wire_fault, std::atomic<int>& asked) {
  Script script;
  script.answer = [wire_fault, &asked](const Request& request) {
    ++asked;
    Response response = text_answer("hello");
    if (request.path == "/disturbed") response.set_wire_fault(wire_fault);
    return response;
  };
  return script;
}

/// Without the line that differs from second to second.
std::string without_date(std::string bytes) {
  for (std::size_t at = bytes.find("Date: "); at != std::string::npos; at = bytes.find("Date: ", at)) {
    bytes.erase(at, bytes.find("\r\n", at) + 2 - at);
  }
  return bytes;
}

struct Seen {
  RawConnection::Rest rest = {};
  int asked = 0;
  std::chrono::milliseconds took{0};
};

/// What a client sees that pipelines three requests, the second with a fault.
Seen send_three(const WireFault& wire_fault, std::chrono::milliseconds at_most = 5s) {
  Seen seen;
  std::atomic<int> asked = 0;
  Script script = disturbing(wire_fault, asked);
  ScriptedServer server(script);
  RawConnection connection(server.port());
  const auto start = std::chrono::steady_clock::now();
  connection.send(std::string(usual) + disturbed + usual);
  REQUIRE(connection.read().value().body == "hello");
  seen.rest = connection.read_rest(at_most);
  seen.rest.bytes = without_date(seen.rest.bytes);
  seen.took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  seen.asked = asked;
  return seen;
}

}  // namespace

TEST_CASE("wire fault: a delayed response arrives complete, and pipelined ones after it", "[server-mock]") {
  const std::string whole = std::string(head) + "hello";
  const Seen seen = send_three({.delay = 300ms}, 3s);
  CHECK(seen.rest.bytes == whole + whole);
  CHECK(seen.took >= 300ms);
  CHECK(seen.asked == 3);
}

TEST_CASE("wire fault: a delay or a hang does not block other connections", "[server-mock]") {
  std::atomic<int> asked = 0;
  const auto end = GENERATE(WireFault::End::as_usual, WireFault::End::hang);
  Script script = disturbing({.end = end, .delay = 20s}, asked);
  ScriptedServer server(script);
  RawConnection late(server.port());
  late.send(disturbed);
  CHECK(ws::test::ask(server.port(), {.target = "/usual"}).body == "hello");
}

TEST_CASE("wire fault: a reset arrives as RST, after the responses before it", "[server-mock]") {
  const Seen seen = send_three({.end = WireFault::End::reset, .delay = 50ms});
  CHECK(seen.rest.end == End::reset);
  CHECK(seen.rest.bytes.empty());
  CHECK(seen.asked == 2);
}

TEST_CASE("wire fault: close_without_answer sends FIN without a byte", "[server-mock]") {
  const Seen seen = send_three({.end = WireFault::End::close_without_answer});
  CHECK(seen.rest.end == End::closed);
  CHECK(seen.rest.bytes.empty());
}

TEST_CASE("wire fault: a truncated body ends at its limit and closes the connection", "[server-mock]") {
  const auto bytes = GENERATE(0U, 3U, 5U, 99U);
  const Seen seen = send_three({.truncate_at = bytes});
  CHECK(seen.rest.bytes == std::string(head) + std::string("hello").substr(0, bytes));
  CHECK(seen.rest.end == End::closed);
  CHECK(seen.asked == 2);
}

TEST_CASE("wire fault: a wrong Content-Length is sent with the whole body, and the connection closes",
          "[server-mock]") {
  const auto told = GENERATE(2U, 1000U);
  const Seen seen = send_three({.content_length = told});
  const std::string wrong = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(told);
  CHECK(seen.rest.bytes == wrong + "\r\n\r\nhello");
  CHECK(seen.rest.end == End::closed);
}

TEST_CASE("wire fault: a dribbled response arrives in pieces and is complete", "[server-mock]") {
  const Seen seen = send_three({.dribble_bytes = 7, .dribble_every = 20ms}, 3s);
  const std::string whole = std::string(head) + "hello";
  CHECK(seen.rest.bytes == whole + whole);
  CHECK(seen.took >= 20ms * (static_cast<int>(whole.size()) / 7 - 1));
}

TEST_CASE("wire fault: a hang lasts until the client disconnects, despite server timeouts", "[server-mock]") {
  std::atomic<int> asked = 0;
  Script script = disturbing({.end = WireFault::End::hang}, asked);
  ScriptedServer server(script, {.idle = 500ms, .slow = 500ms});
  RawConnection hanging(server.port());
  hanging.send(disturbed);
  hanging.send(usual);
  const auto rest = hanging.read_rest(1500ms);
  CHECK(rest.end == End::none);
  CHECK(rest.bytes.empty());
  CHECK(asked == 1);
}

TEST_CASE("wire fault: delay and dribble do not count as a slow client", "[server-mock]") {
  std::atomic<int> asked = 0;
  Script script = disturbing({.delay = 1s, .dribble_bytes = 30, .dribble_every = 700ms}, asked);
  ScriptedServer server(script, {.idle = 500ms, .slow = 500ms});
  RawConnection late(server.port());
  late.send(disturbed);
  CHECK(late.read().value().body == "hello");
}

TEST_CASE("wire fault: stopping the server ends hangs and sends delayed responses at once", "[server-mock]") {
  std::atomic<int> asked = 0;
  Script script;
  script.answer = [&asked](const Request& request) {
    ++asked;
    Response response = text_answer("hello");
    if (request.path == "/hang") response.set_wire_fault({.end = WireFault::End::hang});
    if (request.path == "/late") response.set_wire_fault({.delay = 60s});
    if (request.path == "/dribble") response.set_wire_fault({.dribble_bytes = 1, .dribble_every = 60s});
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

TEST_CASE("wire fault: HEAD and bodiless responses are not truncated", "[server-mock]") {
  std::atomic<int> asked = 0;
  Script script = disturbing({.truncate_at = 2}, asked);
  ScriptedServer server(script);
  RawConnection connection(server.port());
  connection.send("HEAD /disturbed HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(without_date(connection.read_rest().bytes) == head);
}
