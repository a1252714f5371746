#include "server-mock/faults/rate_limit.hpp"

#include <catch2/catch.hpp>

#include "tests/server-mock/wire.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;
using namespace std::chrono_literals;

TEST_CASE("rate limit: allows a burst, then refills evenly, for each key separately", "[server-mock]") {
  RateLimit limit({.calls = 4, .per = 1s});
  std::int64_t now = 1'000'000;
  for (int i = 0; i < 4; ++i) CHECK_FALSE(limit.take("a", now, now));
  CHECK(limit.take("a", now, now) == 250ms);
  CHECK_FALSE(limit.take("b", now, now));
  now += 250;
  CHECK_FALSE(limit.take("a", now, now));
  CHECK(limit.take("a", now, now) == 250ms);
  now -= 500'000;  // setting the clock back does not block for long
  CHECK(limit.take("a", now, now) == 250ms);
}

TEST_CASE("rate limit: N/s, N/m and N/h are rates, other words are not", "[server-mock]") {
  CHECK(Rate::parse("20/s")->per == 1s);
  CHECK(Rate::parse("20")->calls == 20);
  CHECK(Rate::parse("100/m")->per == 1min);
  CHECK(Rate::parse("1000/h")->per == 1h);
  for (const char* text : {"", "0/s", "-1/s", "5/day", "fast", "5/s "}) {
    CAPTURE(text);
    CHECK_FALSE(Rate::parse(text));
  }
}

TEST_CASE("rate limit: over it is 429 with Retry-After, until the clock has moved", "[server-mock]") {
  ApplicationOptions options;
  options.sandbox.rate = Rate::parse("2/m").value();
  Wire wire(options);
  wire.get("/v1/me");
  wire.get("/v1/me");
  const RawAnswer refused = wire.ask({.target = "/v1/me", .token = wire.token()});
  CHECK(refused.status == 429);
  CHECK(refused.header("retry-after") == "30");
  CHECK(parse(refused).at("code") == "rate_limited");
  CHECK(wire.control("GET", "/requests").at("data").back().at("status") == 429);
  CHECK(wire.ask({.target = "/v1/me"}).status == 401);  // another key, or none
  wire.advance(30);
  wire.get("/v1/me");
  wire.get("/v1/me", 429);
}
