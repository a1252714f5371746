#include "server-mock/control/control.hpp"

#include <catch2/catch.hpp>

#include "tests/server-mock/wire.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

TEST_CASE("control: reset puts everything back, and the same things come after it as before", "[server-mock]") {
  Wire wire;
  const std::string token = wire.token();
  const std::string first = wire.new_document("one");
  const std::size_t documents = wire.get("/v1/documents").at("data").size();
  wire.advance(100);
  CHECK(wire.control("POST", "/reset", {{"to", "seed"}}).at("token") == token);
  CHECK(wire.control("GET", "/clock").at("now") == "2026-11-20T10:00:00.000Z");
  CHECK(wire.control("GET", "/requests").at("data").empty());
  CHECK(wire.get("/v1/documents").at("data").size() == documents - 1);
  CHECK(wire.new_document("one") == first);
  wire.control("POST", "/reset", {{"to", "empty"}});
  CHECK(wire.get("/v1/documents").at("data").empty());
  wire.control("POST", "/reset", {{"to", "elsewhere"}}, 422);
}

TEST_CASE("control: the clock stands, moves and runs", "[server-mock]") {
  Wire wire;
  CHECK(wire.control("GET", "/clock") ==
        Json{{"clock", "frozen:2026-11-20T10:00:00.000Z"}, {"now", "2026-11-20T10:00:00.000Z"}});
  CHECK(wire.control("POST", "/clock:advance", {{"seconds", 90}}).at("now") == "2026-11-20T10:01:30.000Z");
  CHECK(wire.control("PUT", "/clock", {{"clock", "offset:-1h"}}).at("clock") == "offset:-3600000ms");
  CHECK(wire.control("PUT", "/clock", {{"clock", "real"}}).at("clock") == "real");
  wire.control("PUT", "/clock", {{"clock", "sundial"}}, 422);
  wire.control("POST", "/clock:advance", {{"seconds", -1}}, 422);
}

TEST_CASE("control: every switch is listed with its values, and turned all or none", "[server-mock]") {
  Wire wire;
  const Json data = wire.control("GET", "/assumptions").at("data");
  CHECK(data.size() == assumption_switches().size());
  CHECK(data.at(0) == Json{{"key", "error_style"},
                           {"value", "plain"},
                           {"default", "plain"},
                           {"values", {"plain", "problem", "detail_object", "html"}}});
  wire.control("PATCH", "/assumptions", {{"error_style", "html"}, {"pull_filter", "sideways"}}, 422);
  CHECK(wire.control("GET", "/assumptions").at("data").at(0).at("value") == "plain");
}

TEST_CASE("control: with a token it needs the token, and without the surface it is not there", "[server-mock]") {
  ApplicationOptions options;
  options.control.token = "secret";
  Wire guarded(options);
  guarded.control("GET", "/health", nullptr, 401);
  CHECK(guarded.ask({.target = "/_mock/health", .token = "secret"}).status == 200);
  options.control = {.is_on = false};
  Wire bare(options);
  CHECK(bare.ask({.target = "/_mock/health"}).status == 404);
}

TEST_CASE("control: unknown calls are 404, wrong methods 405, broken bodies 422", "[server-mock]") {
  Wire wire;
  wire.control("GET", "/nothing", nullptr, 404);
  CHECK(wire.ask({.method = "DELETE", .target = "/_mock/clock"}).header("allow") == "GET, HEAD, PUT, OPTIONS");
  CHECK(wire.ask({.method = "POST", .target = "/_mock/reset", .json = "{"}).status == 422);
}

TEST_CASE("control: a key is made to order", "[server-mock]") {
  Wire wire;
  const Json made =
      wire.control("POST", "/keys", {{"agent_id", wire.built_in().agent_id}, {"scopes", {"documents:read"}}}, 201);
  const Json who = parse(wire.ask({.target = "/v1/me", .token = made.at("secret")}));
  CHECK(who.at("agent").at("handle") == "scout");
  CHECK(who.at("user").is_null());
  wire.control("POST", "/keys", {{"audience", "everyone"}}, 422);
  wire.control("POST", "/keys", {{"scopes", "all"}}, 422);
}

TEST_CASE("discovery: every operation is listed; the OpenAPI document is served", "[server-mock]") {
  Wire wire;
  const Json found = wire.get("/v1");
  CHECK(found.at("operations").size() == 56);
  CHECK(found.at("openapi_url") == "http://mock.test/openapi.json");
  const RawAnswer document = wire.ask({.target = "/openapi.json"});
  CHECK(document.status == 200);
  CHECK(parse(document).at("openapi").get<std::string>().starts_with("3.1"));
}
