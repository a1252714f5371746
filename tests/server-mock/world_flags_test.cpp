// Flags about the world and its callers, in the program itself.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/mock_process.hpp"

using namespace ws::test;
using Catch::Matchers::Contains;

namespace {

using FlagJson = nlohmann::json;

FlagJson body_of(const RawAnswer& answer) { return FlagJson::parse(answer.body); }

RawAnswer post(const MockProcess& mock, const std::string& path, const FlagJson& body, const std::string& token = {}) {
  return mock.ask({.method = "POST", .target = path, .token = token, .json = body.dump()});
}

int status_of_me(const MockProcess& mock, const std::string& token) {
  return mock.ask({.target = "/v1/me", .token = token}).status;
}

const FlagJson login = {{"client_name", "c"}, {"cli_version", "1"}, {"scopes", {"documents:read"}}};

}  // namespace

TEST_CASE("ws-mock --auth: strict, any, off", "[server-mock]") {
  const auto [mode, without, unknown] =
      GENERATE(table<std::string, int, int>({{"strict", 401, 401}, {"any", 401, 200}, {"off", 200, 200}}));
  CAPTURE(mode);
  MockProcess mock({"--auth", mode});
  CHECK(status_of_me(mock, "") == without);
  CHECK(status_of_me(mock, "nobody's") == unknown);
  CHECK(status_of_me(mock, mock.token()) == 200);
}

TEST_CASE("ws-mock --clock: frozen, ahead, and as it is", "[server-mock]") {
  const auto clock_with = [](const std::vector<std::string>& flags) {
    MockProcess mock(flags);
    return body_of(mock.ask({.target = "/_mock/clock"}));
  };
  const FlagJson frozen = clock_with({"--clock", "frozen:2026-11-20T10:00:00Z"});
  CHECK(frozen.at("now") == "2026-11-20T10:00:00.000Z");
  CHECK(frozen.at("clock") == "frozen:2026-11-20T10:00:00.000Z");
  CHECK(clock_with({"--clock", "offset:+2h"}).at("clock") == "offset:+2h");
  CHECK(clock_with({}).at("clock") == "real");
}

TEST_CASE("ws-mock --device, --device-interval, --device-expires: who approves, how often to ask, until when",
          "[server-mock]") {
  MockProcess mock({"--device",
                    "after:2",
                    "--device-interval",
                    "7",
                    "--device-expires",
                    "60",
                    "--clock",
                    "frozen:2026-11-20T10:00:00Z"});
  const FlagJson begun = body_of(post(mock, "/v1/auth/device-authorizations", login));
  CHECK(begun.at("interval") == 7);
  CHECK(begun.at("expires_in") == 60);
  const FlagJson code = {{"device_code", begun.at("device_code")}};
  std::vector<int> statuses;
  for (int poll = 0; poll < 3; ++poll) {
    post(mock, "/_mock/clock:advance", {{"seconds", 7}});
    statuses.push_back(post(mock, "/v1/auth/device-token", code).status);
  }
  CHECK(statuses == std::vector<int>{400, 400, 200});
  const FlagJson late = body_of(post(mock, "/v1/auth/device-authorizations", login));
  post(mock, "/_mock/clock:advance", {{"seconds", 60}});
  CHECK(body_of(post(mock, "/v1/auth/device-token", {{"device_code", late.at("device_code")}})).at("code") ==
        "expired_token");
}

TEST_CASE("ws-mock --device: auto, deny and manual", "[server-mock]") {
  const auto [mode, code] = GENERATE(
      table<std::string, std::string>({{"auto", ""}, {"deny", "access_denied"}, {"manual", "authorization_pending"}}));
  CAPTURE(mode);
  MockProcess mock({"--device", mode});
  const FlagJson begun = body_of(post(mock, "/v1/auth/device-authorizations", login));
  const FlagJson answer = body_of(post(mock, "/v1/auth/device-token", {{"device_code", begun.at("device_code")}}));
  CHECK(answer.value("code", "") == code);
  CHECK(answer.contains("secret") == code.empty());
}

TEST_CASE("ws-mock --rate-limit: so many calls with one key, and Retry-After for the next", "[server-mock]") {
  MockProcess mock({"--rate-limit", "2/s", "--clock", "frozen:2026-11-20T10:00:00Z"});
  CHECK(status_of_me(mock, mock.token()) == 200);
  CHECK(status_of_me(mock, mock.token()) == 200);
  const RawAnswer over = mock.ask({.target = "/v1/me", .token = mock.token()});
  CHECK(over.status == 429);
  CHECK(over.header("retry-after") == "1");
  CHECK(mock.ask({.target = "/_mock/health"}).status == 200);
}

TEST_CASE("ws-mock --strict, --assume: what is refused, and how the service answers", "[server-mock]") {
  MockProcess mock({"--strict", "--assume", "question_created=201", "--assume", "error_style=problem"});
  const RawAnswer unknown = post(mock, "/v1/search", {{"query", "x"}, {"colour", "red"}}, mock.token());
  CHECK(unknown.status == 422);
  CHECK(body_of(unknown).at("detail").at(0).at("type") == "extra_forbidden");
  CHECK(mock.ask({.target = "/v1/me"}).header("content-type") == "application/problem+json");
  CHECK(post(mock, "/v1/questions", {{"prompt", "x"}, {"sources", {"workspace"}}}, mock.token()).status == 201);
}

TEST_CASE("ws-mock --journal: the last so many requests, and how many went before them", "[server-mock]") {
  MockProcess mock({"--journal", "2"});
  for (int i = 0; i < 5; ++i) status_of_me(mock, mock.token());
  const FlagJson journal = body_of(mock.ask({.target = "/_mock/requests"}));
  REQUIRE(journal.at("data").size() == 2);
  CHECK(journal.at("data").at(0).at("seq") == 4);
  CHECK(journal.at("dropped") == 3);
}

TEST_CASE("ws-mock serve: the same as no word at all", "[server-mock]") {
  Running mock({.arguments = {program("ws-mock"), "serve", "--log", "off"}});
  CHECK(mock.wait_for("http://127.0.0.1:"));
}
