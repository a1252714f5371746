#include "server-mock/http/server/server.hpp"

#include <atomic>
#include <thread>

#include <catch2/catch.hpp>

#include "tests/server-mock/http/server/scripted_server.hpp"
#include "tests/support/raw_http.hpp"

using namespace ws::mock::http;
using ws::test::RawConnection;
using namespace std::chrono_literals;

namespace {

class Hello final : public Handler {
 public:
  std::size_t body_limit(const Request&) override { return std::size_t{1} << 20U; }
  Response handle(const Request&) override {
    Response response;
    response.body("text/plain", "hello");
    return response;
  }
  Response refuse(const MalformedRequest& why) override { return Response(why.status); }
};

/// A server on a thread of its own, stopped at the end.
class RunningServer {
 public:
  explicit RunningServer(ServerOptions options = {})
      : server_(Server::listen(options, handler_).value()), thread_([this] { server_->run(); }) {}
  ~RunningServer() {
    server_->stop();
    thread_.join();
  }
  std::uint16_t port() const { return server_->port(); }
  void stop() { server_->stop(); }

 private:
  Hello handler_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

constexpr const char* request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

}  // namespace

TEST_CASE("server: one connection serves many requests, pipelined ones too", "[server-mock]") {
  RunningServer running;
  RawConnection connection(running.port());
  for (int round = 0; round < 3; ++round) {
    connection.send(std::string(request) + request);
    CHECK(connection.read().value().body == "hello");
    CHECK(connection.read().value().body == "hello");
  }
}

TEST_CASE("server: a slow message is answered with 408 and delays no others", "[server-mock]") {
  RunningServer running({.slow = 200ms});
  RawConnection slow(running.port());
  slow.send("GET / HTTP/1.1\r\nHo");
  CHECK(ws::test::ask(running.port(), {}).status == 200);
  const auto answer = slow.read();
  REQUIRE(answer);
  CHECK(answer->status == 408);
  CHECK(slow.ends());
}

TEST_CASE("server: an idle connection is closed silently", "[server-mock]") {
  RunningServer running({.idle = 500ms, .slow = 500ms});
  RawConnection idle(running.port());
  idle.send(request);
  CHECK(idle.read());
  CHECK(idle.ends());
}

TEST_CASE("server: clients above the connection limit wait until another disconnects", "[server-mock]") {
  RunningServer running({.connections = 2});
  RawConnection first(running.port());
  first.send(request);
  CHECK(first.read());
  {
    RawConnection second(running.port());
    second.send(request);
    CHECK(second.read());
    RawConnection third(running.port());
    third.send(request);
    CHECK_FALSE(third.read(ws::test::AnswerTo::get, 100ms));
    first.send(request);
    CHECK(first.read());
  }
  RawConnection fourth(running.port());
  fourth.send(request);
  CHECK(fourth.read().value().status == 200);
}

TEST_CASE("server: memory held for all clients together is bounded", "[server-mock]") {
  RunningServer running({.limits = {.held_bytes = 300'000}});
  RawConnection large(running.port());
  large.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 900000\r\n\r\n" + std::string(500'000, 'x'));
  const auto answer = large.read();
  REQUIRE(answer);
  CHECK(answer->status == 503);
  CHECK(ws::test::ask(running.port(), {}).status == 200);
}

TEST_CASE("server: a handler works while no request is there, and requests come between", "[server-mock]") {
  std::atomic<int> pieces = 0;
  ws::mock::test::ScriptedServer running({.work = [&pieces] {
    std::this_thread::sleep_for(1ms);
    return ++pieces > 0;
  }});
  while (pieces < 20) std::this_thread::yield();
  CHECK(ws::test::ask(running.port(), {}).status == 200);
  const int seen = pieces;
  while (pieces == seen) std::this_thread::yield();
  running.stop();
  running.wait();
}

TEST_CASE("server: stopping closes idle connections at once and accepts no more", "[server-mock]") {
  std::uint16_t port = 0;
  {
    RunningServer running;
    port = running.port();
    RawConnection idle(port);
    idle.send(request);
    CHECK(idle.read());
    running.stop();
    CHECK(idle.ends());
  }
  CHECK_THROWS(RawConnection(port));
}

TEST_CASE("server: an address that is taken or no address is a failure that names it", "[server-mock]") {
  RunningServer running;
  Hello handler;
  const auto taken = Server::listen({.listen = {.port = running.port()}}, handler);
  REQUIRE_FALSE(taken);
  CHECK_THAT(taken.error().what, Catch::Matchers::Contains(std::to_string(running.port())));
  CHECK_FALSE(Address::parse("nonsense"));
  CHECK_FALSE(Address::parse("127.0.0.1:99999"));
  CHECK_FALSE(Address::parse("example.com:80"));
  CHECK(Address::parse("[::1]:80")->is_loopback());
  CHECK_FALSE(Address::parse("0.0.0.0:80")->is_loopback());
}
