#include "api-client/login/device_login.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "tests/support/client_world.hpp"

using namespace ws;
using namespace ws::test;
using http::TransportError;
using std::chrono::milliseconds;
using std::chrono::seconds;
using PollKind = Poll::Kind;

namespace {

const std::string device_code(40, 'd');
constexpr const char* granted_body =
    R"({"secret":"wsk_new","key_id":"k","audience":"workspace","scopes":["documents:read"],"expires_at":null,
        "created_at":"2026-11-20T00:00:00.000Z","workspace_id":"w","workspace_name":"Home"})";

/// What a client makes of one answer of the service.
Poll poll_of(http::Outcome outcome) {
  ClientWorld world(ClientWorld::in_turn({std::move(outcome)}));
  const Poll poll = read_poll(world.client.call(
      {.operation = "auth.token", .body = Json{{"device_code", device_code}}, .validate = false, .repeat = false}));
  CHECK(world.sends() == 1);
  return poll;
}

/// Waits on the fake clock, and remembers how long.
struct Waits {
  explicit Waits(ClientWorld& world_) : world(world_) {}
  Waiter waiter() {
    return [this](milliseconds time) -> Result<void> {
      all.push_back(time);
      world.clock.advance(time);
      return {};
    };
  }
  ClientWorld& world;
  std::vector<milliseconds> all;
};

DeviceAuthorization authorization(const ClientWorld& world) {
  return {.device_code = device_code,
          .user_code = "BCDF-GHJK",
          .verification_uri = "https://api.example.org/device",
          .interval = seconds{5},
          .expires_at = world.clock.now() + seconds{900}};
}

}  // namespace

TEST_CASE("device login: every form of an answer to a poll is understood", "[client]") {
  struct Row {
    std::string name;
    http::Outcome outcome;
    PollKind expected;
  };
  const http::Headers html{{"Content-Type", "text/html"}};
  const http::Headers problem{{"Content-Type", "application/problem+json"}};
  const std::vector<Row> rows = {
      {"granted", json_response(200, granted_body), PollKind::granted},
      {"code", json_response(400, R"({"detail":"Not yet.","code":"authorization_pending"})"), PollKind::pending},
      {"error", json_response(400, R"({"error":"authorization_pending"})"), PollKind::pending},
      {"detail is the word", json_response(400, R"({"detail":"authorization_pending"})"), PollKind::pending},
      {"detail holds it", json_response(400, R"({"detail":"Authorization pending, please wait"})"), PollKind::pending},
      {"detail object",
       json_response(400, R"({"detail":{"code":"authorization_pending","message":"Not yet."}})"),
       PollKind::pending},
      {"problem",
       json_response(400, R"({"title":"Bad Request","status":400,"code":"authorization_pending"})", problem),
       PollKind::pending},
      {"page", json_response(400, "<html><title>400 authorization_pending</title></html>", html), PollKind::pending},
      {"428", json_response(428, ""), PollKind::pending},
      {"428 slow down", json_response(428, R"({"error":"slow_down"})"), PollKind::slow_down},
      {"202", json_response(202, R"({"status":"pending"})"), PollKind::pending},
      {"202 empty", json_response(202, ""), PollKind::pending},
      {"200 without secret", json_response(200, R"({"status":"authorization_pending"})"), PollKind::pending},
      {"200 secret null", json_response(200, R"({"secret":null})"), PollKind::pending},
      {"200 denied", json_response(200, R"({"error":"access_denied"})"), PollKind::refused},
      {"slow down", json_response(400, R"({"error":"slow_down","code":"slow_down"})"), PollKind::slow_down},
      {"denied", json_response(400, R"({"error":"access_denied"})"), PollKind::refused},
      {"denied 403", json_response(403, R"({"code":"access_denied"})"), PollKind::refused},
      {"expired", json_response(400, R"({"code":"expired_token"})"), PollKind::refused},
      {"used", json_response(400, R"({"code":"invalid_grant"})"), PollKind::refused},
      {"other 400", json_response(400, R"({"detail":"What?"})"), PollKind::refused},
      {"422", json_response(422, R"({"detail":[]})"), PollKind::refused},
      {"404", json_response(404, ""), PollKind::refused},
      {"login page", json_response(200, "<html>", html), PollKind::refused},
      {"key over two lines", json_response(200, R"({"secret":"wsk_a\nb"})"), PollKind::refused},
      {"key with a blank", json_response(200, R"({"secret":"wsk_a b"})"), PollKind::refused},
      {"500", json_response(500, ""), PollKind::lost},
      {"503", json_response(503, "", {{"Retry-After", "1000"}}), PollKind::lost},
      {"429", json_response(429, "", {{"Retry-After", "9"}}), PollKind::lost},
      {"unsent", transport_error(TransportError::Stage::nothing_sent), PollKind::lost},
      {"unanswered", transport_error(TransportError::Stage::no_answer), PollKind::lost},
      {"handshake", transport_error(TransportError::Stage::tls), PollKind::refused},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Poll poll = poll_of(row.outcome);
    CHECK(static_cast<int>(poll.kind) == static_cast<int>(row.expected));
  }
}

TEST_CASE("device login: refusals have their kind and code", "[client]") {
  const auto check = [](std::string_view code, Failure::Kind kind) {
    CAPTURE(code);
    for (const std::string& body : std::vector<std::string>{R"({"error":")" + std::string(code) + R"("})",
                                                            R"({"detail":")" + std::string(code) + R"("})"}) {
      const Poll poll = poll_of(json_response(400, body));
      CHECK(poll.failure.kind == kind);
      CHECK(poll.failure.code == code);
      CHECK_FALSE(poll.failure.hint.empty());
    }
  };
  check("access_denied", Failure::Kind::forbidden);
  check("expired_token", Failure::Kind::auth);
  check("invalid_grant", Failure::Kind::auth);
}

TEST_CASE("device login: a granted key comes with all that the service says of it", "[client]") {
  const DeviceKey key = poll_of(json_response(200, granted_body)).key;
  CHECK(key.secret == "wsk_new");
  CHECK(key.audience == "workspace");
  CHECK(key.scopes == std::vector<std::string>{"documents:read"});
  CHECK(key.expires_at.empty());
  CHECK(key.workspace_name == "Home");
}

TEST_CASE("device login: the pace slows for good when told, and backs off while the connection is lost", "[client]") {
  PollDelay pace{.interval = seconds{5}};
  CHECK(pace.after({.kind = PollKind::pending}) == seconds{5});
  CHECK(pace.after({.kind = PollKind::slow_down}) == seconds{10});
  CHECK(pace.after({.kind = PollKind::pending}) == seconds{10});
  CHECK(pace.after({.kind = PollKind::lost}) == seconds{20});
  CHECK(pace.after({.kind = PollKind::lost}) == seconds{40});
  CHECK(pace.after({.kind = PollKind::lost}) == seconds{60});
  CHECK(pace.after({.kind = PollKind::lost}) == seconds{60});
  CHECK(pace.after({.kind = PollKind::pending}) == seconds{10});
  Poll later{.kind = PollKind::lost};
  later.failure.call.retry_after = seconds{90};
  CHECK(pace.after(later) == seconds{90});
}

TEST_CASE("device login: starting gives code, address and times, with defaults where they are missing", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(
      201, R"({"authorization_id":"a","device_code":"dc","user_code":"uc","verification_uri":"https://x/device",
               "verification_uri_complete":"https://x/device?c=uc","expires_in":600,"interval":7})")}));
  const auto started = start_device_login(world.client, world.clock, "ws on host", "1.0", {"documents:read"});
  REQUIRE(started);
  CHECK(started->device_code == "dc");
  CHECK(started->interval == seconds{7});
  CHECK(started->expires_at == world.clock.now() + seconds{600});
  CHECK(world.transport.requests()[0].body ==
        R"({"client_name":"ws on host","cli_version":"1.0","scopes":["documents:read"]})");
  CHECK_FALSE(http::find_header(world.transport.requests()[0].headers, "Authorization"));

  const std::string times = GENERATE("",
                                     R"(,"expires_in":0,"interval":0)",
                                     R"(,"expires_in":-5,"interval":-1)",
                                     R"(,"expires_in":null,"interval":"5")");
  ClientWorld bare(ClientWorld::in_turn({json_response(
      201, R"({"device_code":"dc","user_code":"uc","verification_uri":"https://x/device")" + times + "}")}));
  const auto plain = start_device_login(bare.client, bare.clock, "ws", "1.0", {"documents:read"});
  REQUIRE(plain);
  CHECK(plain->interval == seconds{5});
  CHECK(plain->expires_at == bare.clock.now() + seconds{900});
}

TEST_CASE("device login: an answer without a code is no start, and 13 scopes are refused here", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(201, "{}")}));
  const auto started = start_device_login(world.client, world.clock, "ws", "1.0", {"documents:read"});
  REQUIRE_FALSE(started);
  CHECK(started.error().kind == Failure::Kind::unknown_outcome);
  CHECK(started.error().call.applied == Applied::unknown);
  std::vector<std::string> many(contract::all_scopes.begin(), contract::all_scopes.begin() + 13);
  const auto refused = start_device_login(world.client, world.clock, "ws", "1.0", many);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == Failure::Kind::usage);
  CHECK(world.sends() == 1);
}

TEST_CASE("device login: waiting polls at the interval and outlives a lost connection", "[client]") {
  const http::Outcome pending = json_response(400, R"({"code":"authorization_pending"})");
  ClientWorld world(ClientWorld::in_turn({pending,
                                          json_response(400, R"({"code":"slow_down"})"),
                                          pending,
                                          transport_error(TransportError::Stage::no_answer),
                                          transport_error(TransportError::Stage::nothing_sent),
                                          pending,
                                          json_response(200, granted_body)}),
                    {.budget = {.retries_left = 0}});
  Waits waits(world);
  const auto key = await_device_key(world.client, world.clock, authorization(world), waits.waiter());
  REQUIRE(key);
  CHECK(key->secret == "wsk_new");
  CHECK(waits.all == std::vector<milliseconds>{
                         seconds{5}, seconds{5}, seconds{10}, seconds{10}, seconds{20}, seconds{40}, seconds{10}});
  CHECK(world.sends() == 7);
}

TEST_CASE("device login: waiting ends when the code does, however the service answers", "[client]") {
  const http::Outcome answer = GENERATE(http::Outcome(json_response(400, R"({"code":"authorization_pending"})")),
                                        http::Outcome(transport_error(TransportError::Stage::nothing_sent)));
  ClientWorld world(ClientWorld::in_turn({answer}));
  Waits waits(world);
  const DeviceAuthorization started = authorization(world);
  const auto key = await_device_key(world.client, world.clock, started, waits.waiter());
  REQUIRE_FALSE(key);
  CHECK(key.error().kind == Failure::Kind::auth);
  CHECK(key.error().code == "expired_token");
  CHECK(world.clock.now() == started.expires_at);
}

TEST_CASE("device login: denied ends at once", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(400, R"({"error":"access_denied"})")}));
  Waits waits(world);
  const auto key = await_device_key(world.client, world.clock, authorization(world), waits.waiter());
  REQUIRE_FALSE(key);
  CHECK(key.error().kind == Failure::Kind::forbidden);
  CHECK(world.sends() == 1);
}

TEST_CASE("device login: a cancelled wait polls no more", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(200, granted_body)}));
  const std::atomic<bool> cancelled = true;
  const auto key = await_device_key(world.client, world.clock, authorization(world), make_sleeper(&cancelled));
  REQUIRE_FALSE(key);
  CHECK(key.error().kind == Failure::Kind::cancelled);
  CHECK(world.sends() == 0);
}

TEST_CASE("device login: one poll gives the key or nothing yet", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(400, R"({"code":"slow_down"})"),
                                          json_response(200, granted_body),
                                          json_response(400, R"({"code":"invalid_grant"})")}));
  const auto pending = poll_device_login(world.client, device_code);
  REQUIRE(pending);
  CHECK_FALSE(*pending);
  const auto granted = poll_device_login(world.client, device_code);
  REQUIRE(granted);
  REQUIRE(*granted);
  CHECK((*granted)->secret == "wsk_new");
  CHECK_FALSE(poll_device_login(world.client, device_code));
}

TEST_CASE("device login: a key that no call could carry is an unusable answer", "[client]") {
  const Poll poll = poll_of(json_response(200, R"({"secret":"wsk_new\nX-Header: 1"})"));
  CHECK(poll.failure.kind == Failure::Kind::internal);
  CHECK(poll.failure.code == "unusable_answer");
  CHECK(poll.key.secret.empty());
  CHECK(poll.failure.what.find("wsk_new") == std::string::npos);
}
