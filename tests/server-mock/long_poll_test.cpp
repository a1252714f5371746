// Long polls over real sockets: woken by events, ended by the clock, without blocking others.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/server-mock/running.hpp"

namespace ws::mock::test {
namespace {

using namespace std::chrono_literals;
using ws::test::RawConnection;

/// The event of the next response; null if it has none. Fails the test if no response arrives.
Json event_from(RawConnection& connection) {
  const auto answer = connection.read();
  REQUIRE(answer);
  CHECK(answer->status == 200);
  return parse(*answer).at("event");
}

bool is_silent(RawConnection& connection) { return !connection.read(ws::test::AnswerTo::get, 20ms); }

}  // namespace

TEST_CASE("long poll: a claim is woken by a mention, and delays no other request", "[server-mock]") {
  Running server;
  RawConnection worker(server.port());
  worker.send(server.claim(30));
  CHECK(is_silent(worker));
  server.mention();
  const Json event = event_from(worker);
  CHECK(event.at("kind") == "comment.mention");
  CHECK(event.at("attempt") == 1);
  // The connection goes on.
  worker.send(server.claim(0));
  CHECK(event_from(worker).is_null());
}

TEST_CASE("long poll: advancing the clock ends a claim, and expired leases are claimed on the way", "[server-mock]") {
  Running server;
  RawConnection worker(server.port());
  worker.send(server.claim(10));
  CHECK(is_silent(worker));
  server.advance(9);
  CHECK(is_silent(worker));
  server.advance(1);
  CHECK(event_from(worker).is_null());

  server.mention();
  worker.send(server.claim(0));
  const Json held = event_from(worker);
  server.advance(20);
  worker.send(server.claim(30));
  CHECK(is_silent(worker));
  server.advance(10);  // the lease ends
  const Json again = event_from(worker);
  CHECK(again.at("id") == held.at("id"));
  CHECK(again.at("attempt") == 1);
}

TEST_CASE("long poll: on a real clock a claim times out by itself", "[server-mock]") {
  Running server("real");
  RawConnection worker(server.port());
  const auto start = std::chrono::steady_clock::now();
  worker.send(server.claim(1));
  CHECK(event_from(worker).is_null());
  const auto taken = std::chrono::steady_clock::now() - start;
  CHECK(taken >= 990ms);
  CHECK(taken < 20s);
}

TEST_CASE("long poll: on a frozen clock a claim ends after its seconds of real time", "[server-mock]") {
  Running server;
  RawConnection worker(server.port());
  const auto start = std::chrono::steady_clock::now();
  worker.send(server.claim(1));
  CHECK(event_from(worker).is_null());
  CHECK(std::chrono::steady_clock::now() - start >= 990ms);
}

TEST_CASE("long poll: the first of several claims gets the event, a disconnected client gets none", "[server-mock]") {
  Running server;
  {
    RawConnection gone(server.port());
    gone.send(server.claim(30));
    CHECK(is_silent(gone));
  }
  std::vector<std::unique_ptr<RawConnection>> workers;
  for (int i = 0; i < 50; ++i) {
    workers.push_back(std::make_unique<RawConnection>(server.port()));
    workers.back()->send(server.claim(20));
    if (i == 0) CHECK(is_silent(*workers.front()));
  }
  server.mention();
  CHECK_FALSE(event_from(*workers.front()).is_null());
  server.advance(20);
  for (std::size_t i = 1; i < workers.size(); ++i) CHECK(event_from(*workers[i]).is_null());
}

TEST_CASE("long poll: pipelined requests behind a claim wait for it", "[server-mock]") {
  Running server;
  RawConnection worker(server.port());
  const std::string who = ws::test::render(server.request("GET", "/v1/me", nullptr, server.built_in().token));
  worker.send(who + server.claim(10) + who + server.claim(10) + who);
  CHECK(parse(worker.read().value()).at("object") == "identity");
  CHECK(is_silent(worker));
  server.mention();
  CHECK_FALSE(event_from(worker).is_null());
  CHECK(parse(worker.read().value()).at("object") == "identity");
  CHECK(is_silent(worker));
  server.advance(10);
  CHECK(event_from(worker).is_null());
  CHECK(parse(worker.read().value()).at("object") == "identity");
}

TEST_CASE("long poll: a claim with a chunked body works too", "[server-mock]") {
  Running server;
  RawConnection worker(server.port());
  const std::string body = R"({"worker_id":"w","wait_seconds":10})";
  worker.send(
      fmt::format("POST /v1/agent-events:claim HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n"
                  "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{}",
                  server.built_in().token,
                  body.size(),
                  body.substr(0, 10)));
  CHECK(is_silent(worker));
  worker.send(body.substr(10) + "\r\n0\r\n\r\n");
  CHECK(is_silent(worker));
  worker.send(std::string(8'000, 'x') + "\r\n\r\n");  // the buffer moves under the request that waits
  CHECK(is_silent(worker));
  server.mention();
  CHECK_FALSE(event_from(worker).is_null());
  CHECK(worker.read().value().status == 400);
}

TEST_CASE("long poll: a key revoked meanwhile gets 401", "[server-mock]") {
  Running server;
  const Json key = server.send(
      "POST", "/_mock/keys", {{"user_id", server.built_in().user_id}, {"scopes", {"agent_events:write"}}}, 201);
  RawConnection worker(server.port());
  worker.send(server.claim(30, key.at("secret")));
  CHECK(is_silent(worker));
  const std::string revoke = fmt::format("/_mock/keys/{}:revoke", key.at("key_id").get<std::string>());
  REQUIRE(ws::test::ask(server.port(), {.method = "POST", .target = revoke}).status == 204);
  RawConnection other(server.port());
  other.send(server.claim(30));
  CHECK(is_silent(other));
  server.mention();
  CHECK(worker.read().value().status == 401);
  CHECK_FALSE(event_from(other).is_null());
}

TEST_CASE("long poll: a resumed request uses the Host of its own client in URLs", "[server-mock]") {
  Running server;
  server.send(
      "POST", "/_mock/faults", {{"operation", "discovery.get"}, {"times", 1}, {"effect", {{"delay_ms", 300}}}}, 201);
  const auto discovery = [&](const std::string& host) {
    return fmt::format("GET /v1 HTTP/1.1\r\nHost: {}:{}\r\nAuthorization: Bearer {}\r\n\r\n",
                       host,
                       server.port(),
                       server.built_in().token);
  };
  const auto url_of = [](RawConnection& connection) {
    const auto answer = connection.read();
    REQUIRE(answer);
    const std::string url = parse(*answer).at("openapi_url");
    return url.substr(url.find("://"));
  };
  RawConnection first(server.port());
  first.send(discovery("localhost"));
  CHECK(is_silent(first));
  RawConnection second(server.port());
  second.send(discovery("127.0.0.1"));
  CHECK(url_of(second) == fmt::format("://127.0.0.1:{}/openapi.json", server.port()));
  CHECK(url_of(first) == fmt::format("://localhost:{}/openapi.json", server.port()));
}

TEST_CASE("long poll: a claim is journalled once, with its response", "[server-mock]") {
  Running server;
  RawConnection worker(server.port());
  worker.send(server.claim(10));
  CHECK(is_silent(worker));
  server.mention();
  event_from(worker);
  int claims = 0;
  const Json journal = server.send("GET", "/_mock/requests", nullptr, 200);
  for (const Json& entry : journal.at("data")) claims += entry.at("operation") == "events.claim" ? 1 : 0;
  CHECK(claims == 1);
}

TEST_CASE("long poll: stopping and a reset answer pending claims", "[server-mock]") {
  Running server;
  RawConnection worker(server.port());
  worker.send(server.claim(30));
  CHECK(is_silent(worker));
  server.send("POST", "/_mock/reset", {{"to", "seed"}}, 200);
  CHECK(event_from(worker).is_null());
  worker.send(server.claim(30));
  CHECK(is_silent(worker));
  server.stop();
  const auto answer = worker.read();
  REQUIRE(answer);
  CHECK(answer->header("connection") == "close");
  CHECK(worker.ends());
}

}  // namespace ws::mock::test
