// Control calls refuse unknown members and parameters.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "server-mock/control/control.hpp"
#include "tests/server-mock/wire.hpp"

namespace ws::mock::test {
namespace {

using Catch::Matchers::Contains;

/// The path with its parameters filled in; the objects need not exist, since the body is checked first.
std::string filled(std::string_view path) {
  std::string text(path);
  for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{')) {
    text.replace(at, text.find('}') - at + 1, "x");
  }
  return text;
}

RawAnswer send(Wire& wire, std::string_view method, const std::string& target, const std::string& json) {
  return wire.ask({.method = std::string(method), .target = target, .json = json});
}

}  // namespace

TEST_CASE("control: unknown members and parameters are refused by name at every call", "[server-mock]") {
  Wire wire;
  const Json before = wire.control("GET", "/state");
  int called = 0;
  for (const ControlCall& call : control_calls()) {
    CAPTURE(call.method, call.path);
    const RawAnswer member = send(wire, call.method, filled(call.path), R"({"nobody_knows": 1})");
    CHECK(member.status == 422);
    CHECK_THAT(member.body, Contains("nobody_knows"));
    const RawAnswer parameter = send(wire, call.method, filled(call.path) + "?nobody_knows=1", "");
    CHECK(parameter.status == 422);
    CHECK_THAT(parameter.body, Contains("nobody_knows"));
    const RawAnswer list = send(wire, call.method, filled(call.path), "[1]");
    CHECK(list.status == 422);
    ++called;
  }
  CHECK(called > 40);
  CHECK(wire.control("GET", "/state") == before);
}

TEST_CASE("control: the error lists the known members", "[server-mock]") {
  Wire wire;
  const std::string made = wire.new_document("Stays");
  CHECK_THAT(send(wire, "POST", "/_mock/reset", R"({"too": "empty"})").body, Contains("Unknown: too; known are to"));
  CHECK(wire.get("/v1/documents/" + made).at("title") == "Stays");
  CHECK_THAT(send(wire, "POST", "/_mock/clock:advance", R"({"second": 5})").body, Contains("known are seconds, by"));
  CHECK_THAT(send(wire, "POST", "/_mock/keys", R"({"persn": "x"})").body, Contains("known are person, user"));
  CHECK_THAT(send(wire, "POST", "/_mock/requests:verify", R"({"match": {"statis": 1}})").body,
             Contains("known are operation, method"));
  CHECK_THAT(send(wire, "PUT", "/_mock/clock", R"({"clock": {"real": true, "x": 1}})").body, Contains("Unknown: x"));
  CHECK_THAT(send(wire, "POST", "/_mock/faults", R"({"faults": [], "x": 1})").body, Contains("Unknown: x"));
}

TEST_CASE("control: a value of a wrong type is refused", "[server-mock]") {
  Wire wire;
  for (const auto& [method, path, body] :
       std::vector<std::tuple<std::string, std::string, std::string>>{{"POST", "reset", R"({"to": 5})"},
                                                                      {"POST", "reset", R"("empty")"},
                                                                      {"POST", "snapshots", R"({"name": 5})"},
                                                                      {"POST", "clock:advance", R"({"seconds": "5"})"},
                                                                      {"PUT", "clock", R"({"real": "yes"})"},
                                                                      {"PUT", "state", R"({"tables": []})"},
                                                                      {"PUT", "state", R"({"tables": {}, "clock": 5})"},
                                                                      {"PUT", "state", R"({"tables": {}, "v": 2})"},
                                                                      {"POST", "keys", R"({"person": 5})"},
                                                                      {"POST", "events", R"({"payload": 5})"},
                                                                      {"POST", "sandboxes", R"([])"},
                                                                      {"PATCH", "assumptions", R"([])"}}) {
    CAPTURE(path, body);
    CHECK(send(wire, method, "/_mock/" + path, body).status == 422);
  }
}

TEST_CASE("control: the response to a new key has its effective role", "[server-mock]") {
  Wire wire;
  const auto told = [&](const Json& wanted) { return wire.control("POST", "/keys", wanted, 201).at("role"); };
  CHECK(told(nullptr) == "owner");
  CHECK(told({{"role", "viewer"}}) == "viewer");
  CHECK(told({{"person", "tomas@example.com"}}) == "editor");
  CHECK(told({{"person", "tomas@example.com"}, {"role", "owner"}}) == "editor");
  CHECK(told({{"person", "tomas@example.com"}, {"workspace", "Garden"}}) == "owner");
  CHECK(told({{"audience", "user"}}).is_null());  // it differs from Workspace to Workspace
  const std::string secret =
      wire.control("POST", "/keys", {{"person", "tomas@example.com"}, {"role", "admin"}}, 201).at("secret");
  CHECK(parse(wire.ask({.target = "/v1/me", .token = secret})).at("workspace").at("role") == "editor");
}

TEST_CASE("control: an internal error is logged under its request id, the response has no SQL and no paths",
          "[server-mock]") {
  Wire wire;
  REQUIRE(wire.world().database.execute("drop table documents"));
  for (const std::string target : {"/v1/documents", "/_mock/inspect"}) {
    const RawAnswer answer = wire.ask({.target = target, .token = wire.token()});
    CAPTURE(target, answer.body);
    CHECK(answer.status == 500);
    CHECK(!answer.header("x-request-id").empty());
    CHECK(parse(answer).at("request_id") == answer.header("x-request-id"));
    CHECK_THAT(answer.body, !Contains("select") && !Contains("documents") && !Contains("table"));
  }
}

}  // namespace ws::mock::test
