// Requests that a browser sends on behalf of pages of other sites, in every combination.
#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "server-mock/http/address.hpp"
#include "tests/server-mock/wire.hpp"

namespace ws::mock::test {
namespace {

using Catch::Matchers::Contains;

struct Asked {
  std::string line = "GET /_mock/state";
  std::string host = "localhost";
  std::vector<std::string> headers = {};
  std::string body = {};
};

RawAnswer ask(Wire& wire, const Asked& asked) {
  std::string bytes = asked.line + " HTTP/1.1\r\n";
  if (!asked.host.empty()) bytes += "Host: " + asked.host + "\r\n";
  for (const std::string& header : asked.headers) bytes += header + "\r\n";
  if (!asked.body.empty()) bytes += fmt::format("Content-Length: {}\r\n", asked.body.size());
  return wire.say(bytes + "\r\n" + asked.body);
}

ApplicationOptions open_to_others(std::vector<std::string> allowed = {}) {
  ApplicationOptions options;
  options.names = http::AllowedHosts::of({.host = "0.0.0.0", .port = 8080}, allowed);
  options.control.token = "turnkey";
  return options;
}

const std::string json_type = "Content-Type: application/json";

}  // namespace

TEST_CASE("web: a foreign Host is refused for every request", "[server-mock]") {
  Wire wire;
  const std::string line = GENERATE("GET /_mock/state",
                                    "GET /_mock",
                                    "POST /_mock/reset",
                                    "POST /_mock/shutdown",
                                    "GET /device",
                                    "GET /openapi.json",
                                    "GET /v1",
                                    "POST /v1/auth/device-authorizations",
                                    "POST /_s/s1/_mock/reset");
  const std::string host = GENERATE("evil.example",
                                    "evil.example:4711",
                                    "127.0.0.1.evil.example",
                                    "localhost.evil.example",
                                    "user@127.0.0.1",
                                    "127.0.0.1@evil.example",
                                    "localhost:80@evil.example",
                                    "127.0.0.1:",
                                    "127.0.0.1:x",
                                    "127.0.0.1:80:80",
                                    "localhost.",
                                    "0x7f000001",
                                    "2130706433",
                                    "127.1",
                                    "[::1",
                                    "[127.0.0.1]",
                                    "::1",
                                    "192.168.1.5",
                                    "mock");
  CAPTURE(line, host);
  const RawAnswer answer = ask(wire, {.line = line, .host = host});
  CHECK(answer.status == 403);
  CHECK(code_of(answer) == "foreign_host");
}

TEST_CASE("web: the server's own names, in any case and with any port", "[server-mock]") {
  Wire wire;
  const std::string host = GENERATE("localhost",
                                    "LocalHost:4711",
                                    "127.0.0.1",
                                    "127.0.0.1:65535",
                                    "127.0.0.2",
                                    "[::1]",
                                    "[::1]:4711",
                                    "[0:0:0:0:0:0:0:1]:1");
  CAPTURE(host);
  CHECK(ask(wire, {.host = host}).status == 200);
  CHECK(ask(wire, {.line = "GET /device", .host = host}).status == 200);
  CHECK(ask(wire, {.line = "GET /v1", .host = host, .headers = {"Authorization: Bearer " + wire.token()}}).status ==
        200);
}

TEST_CASE("web: what a page of another origin sends is refused", "[server-mock]") {
  Wire wire;
  const std::string line =
      GENERATE("GET /_mock/state", "POST /_mock/reset", "POST /_mock/shutdown", "GET /device", "POST /device");
  const std::string mark = GENERATE("Origin: https://evil.example",
                                    "Origin: null",
                                    "Origin: http://localhost:3000",
                                    "Origin: http://127.0.0.1:4711",
                                    "Origin: file://",
                                    "Origin: chrome-extension://abc",
                                    "Origin: http://localhost:4711@evil.example",
                                    "Origin: http://localhost:4711\r\nOrigin: https://evil.example",
                                    "Sec-Fetch-Site: cross-site",
                                    "Sec-Fetch-Site: same-site",
                                    "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site",
                                    "Sec-Fetch-Site: nonsense");
  CAPTURE(line, mark);
  const RawAnswer answer = ask(wire, {.line = line, .host = "localhost:4711", .headers = {mark}});
  CHECK(answer.status == 403);
  CHECK(code_of(answer) == "foreign_origin");
  CHECK(answer.header("access-control-allow-origin").empty());
  CHECK(wire.get("/v1/me", 200).contains("user"));
}

TEST_CASE("web: what our own pages send, and a person's own address bar, passes", "[server-mock]") {
  Wire wire;
  const std::string host = "localhost:4711";
  for (const std::string mark : {"Origin: http://localhost:4711",
                                 "Origin: http://LOCALHOST:4711",
                                 "Sec-Fetch-Site: same-origin",
                                 "Sec-Fetch-Site: none"}) {
    CAPTURE(mark);
    CHECK(ask(wire, {.host = host, .headers = {mark}}).status == 200);
    CHECK(ask(wire, {.line = "POST /_mock/reset", .host = host, .headers = {mark, json_type}, .body = "{}"}).status ==
          200);
  }
  CHECK(ask(wire, {.host = "localhost", .headers = {"Origin: http://localhost:80"}}).status == 200);
  // Behind a proxy that terminates TLS the default port is that of https; a browser names the page's scheme.
  CHECK(ask(wire, {.host = "localhost", .headers = {"Origin: https://localhost"}}).status == 200);
  CHECK(
      ask(wire, {.host = "localhost", .headers = {"Origin: https://localhost", "Sec-Fetch-Site: same-site"}}).status ==
      403);
  // A followed link shows the inspector page, which holds no data; nothing else, and not within a frame.
  const std::vector<std::string> link = {
      "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"};
  CHECK(ask(wire, {.line = "GET /_mock", .host = host, .headers = link}).status == 200);
  CHECK(ask(wire, {.line = "GET /_mock/state", .host = host, .headers = link}).status == 403);
  CHECK(ask(wire,
            {.line = "GET /_mock",
             .host = host,
             .headers = {"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"}})
            .status == 403);
}

TEST_CASE("web: a control call's body is JSON and says so, without a body nothing is needed", "[server-mock]") {
  Wire wire;
  for (const std::string type : {"",
                                 "Content-Type: text/plain",
                                 "Content-Type: application/x-www-form-urlencoded",
                                 "Content-Type: multipart/form-data; boundary=x",
                                 "Content-Type: text/plain; application/json",
                                 "Content-Type: application/jsonx"}) {
    CAPTURE(type);
    const std::vector<std::string> headers = type.empty() ? std::vector<std::string>() : std::vector<std::string>{type};
    const RawAnswer answer =
        ask(wire, {.line = "POST /_mock/reset", .headers = headers, .body = "{\"to\": \"empty\"}"});
    CHECK(answer.status == 415);
    CHECK_THAT(answer.body, Contains("Content-Type: application/json"));
  }
  for (const std::string type : {"Content-Type: application/json", "content-type: Application/JSON ; charset=utf-8"}) {
    CHECK(ask(wire, {.line = "POST /_mock/reset", .headers = {type}, .body = "{}"}).status == 200);
  }
  CHECK(ask(wire, {.line = "POST /_mock/reset"}).status == 200);
  CHECK(ask(wire, {.line = "POST /_mock/reset", .headers = {"Content-Type: text/plain", "Content-Length: 0"}}).status ==
        200);
  CHECK(ask(wire, {.line = "POST /device", .headers = {json_type}, .body = "{}"}).status == 415);
  // JSON with trailing text is invalid, in control calls and in the API.
  for (const std::string line : {"POST /_mock/reset", "POST /v1/documents"}) {
    const std::string garbage = std::string("{\"title\": \"x\"}") + '\0' + "garbage";
    const RawAnswer answer =
        ask(wire, {.line = line, .headers = {json_type, "Authorization: Bearer " + wire.token()}, .body = garbage});
    CHECK(answer.status == 422);
  }
}

TEST_CASE("web: a CORS preflight is never allowed", "[server-mock]") {
  Wire wire;
  for (const std::string path : {"/_mock/reset", "/v1/documents", "/device", "/openapi.json", "*"}) {
    CAPTURE(path);
    const RawAnswer answer = ask(wire,
                                 {.line = "OPTIONS " + path,
                                  .headers = {"Origin: https://evil.example",
                                              "Access-Control-Request-Method: POST",
                                              "Access-Control-Request-Headers: authorization, content-type"}});
    CHECK(answer.status == 403);
    for (const auto& [name, value] : answer.headers) CHECK(!name.starts_with("access-control-"));
  }
}

TEST_CASE("web: requests of pages need a key even with --auth off", "[server-mock]") {
  Wire wire;
  const std::string foreign = "Origin: https://evil.example";
  const std::string body = R"({"client_name": "x", "cli_version": "1", "scopes": ["documents:read"]})";
  CHECK(ask(wire, {.line = "POST /v1/auth/device-authorizations", .headers = {foreign, json_type}, .body = body})
            .status == 403);
  CHECK(ask(wire, {.line = "GET /v1/me", .headers = {foreign, "Authorization: Bearer " + wire.token()}}).status == 200);
  ApplicationOptions options;
  options.sandbox.auth = AuthMode::off;
  Wire unguarded(options);
  CHECK(ask(unguarded, {.line = "GET /v1/me", .headers = {foreign, "Authorization: Bearer x"}}).status == 403);
}

TEST_CASE("web: open to others, any address and the names that are allowed, the API also a service's",
          "[server-mock]") {
  Wire wire(open_to_others({"Mock"}));
  const std::string token = "Authorization: Bearer turnkey";
  for (const std::string host : {"mock:8080", "MOCK", "192.168.1.5:8080", "[fe80::1]:8080", "localhost"}) {
    CAPTURE(host);
    CHECK(ask(wire, {.host = host, .headers = {token}}).status == 200);
    CHECK(ask(wire, {.host = host}).status == 401);
  }
  CHECK(ask(wire, {.host = "other:8080", .headers = {token}}).status == 403);
  CHECK(ask(wire, {.line = "GET /device", .host = "other:8080"}).status == 403);
  const std::string key = "Authorization: Bearer " + wire.token();
  const RawAnswer discovered = ask(wire, {.line = "GET /v1", .host = "other:8080", .headers = {key}});
  CHECK(discovered.status == 200);
  CHECK(parse(discovered).at("openapi_url") == "http://other:8080/openapi.json");
  // A rebound name: browsers send Origin or Sec-Fetch-Site with requests that change anything.
  CHECK(ask(wire,
            {.line = "POST /v1/auth/device-authorizations",
             .host = "evil.example:8080",
             .headers = {"Origin: http://evil.example:8080", json_type},
             .body = "{}"})
            .status == 403);
  ApplicationOptions keyless = open_to_others();
  keyless.sandbox.auth = AuthMode::any;
  Wire any(keyless);
  CHECK(ask(any, {.line = "GET /v1/me", .host = "evil.example", .headers = {"Authorization: Bearer x"}}).status == 403);
}

TEST_CASE("web: an absolute target and the Host must name the same server", "[server-mock]") {
  Wire wire;
  CHECK(ask(wire, {.line = "GET http://localhost/_mock/state"}).status == 200);
  CHECK(ask(wire, {.line = "GET http://evil.example/_mock/state"}).status == 400);
  CHECK(ask(wire, {.line = "GET http://localhost/_mock/state", .host = "evil.example"}).status == 400);
  CHECK(ask(wire, {.line = "GET http://evil.example/_mock/state", .host = "evil.example"}).status == 403);
  CHECK(ask(wire, {.line = "GET http://localhost@evil.example/_mock/state"}).status == 400);
  CHECK(ask(wire, {.host = "localhost\r\nHost: evil.example"}).status == 400);
  CHECK(ask(wire, {.host = ""}).status == 400);
}

TEST_CASE("web: absolute URLs use each client's own Host", "[server-mock]") {
  Wire wire;
  const std::string key = "Authorization: Bearer " + wire.token();
  const auto told_to = [&](const std::string& host) {
    return parse(ask(wire, {.line = "GET /v1", .host = host, .headers = {key}})).at("openapi_url").get<std::string>();
  };
  CHECK(told_to("localhost:1234") == "http://localhost:1234/openapi.json");
  CHECK(told_to("127.0.0.1:99") == "http://127.0.0.1:99/openapi.json");
  // A Host without a port, as some relays send it: the known port is used.
  CHECK(told_to("127.0.0.1") == "http://mock.test/openapi.json");
}

TEST_CASE("web: where other machines can call, deciding a login needs the control token", "[server-mock]") {
  const bool has_token = GENERATE(true, false);
  ApplicationOptions options = open_to_others();
  if (!has_token) options.control = {.is_on = false, .token = ""};
  Wire wire(options);
  const Json started =
      parse(ask(wire,
                {.line = "POST /v1/auth/device-authorizations",
                 .headers = {json_type},
                 .body = R"({"client_name": "x", "cli_version": "1", "scopes": ["documents:read"]})"}));
  const std::string code = started.at("user_code");
  const RawAnswer page = ask(wire, {.line = "GET /device?user_code=" + code});
  REQUIRE(page.status == 200);
  CHECK(page.header("cache-control") == "no-store");
  CHECK(page.header("x-content-type-options") == "nosniff");
  CHECK_THAT(page.header("content-security-policy"), Contains("frame-ancestors 'none'"));
  const auto after = [&](const std::string& mark) {
    const std::size_t at = page.body.find(mark) + mark.size();
    return page.body.substr(at, page.body.find('"', at) - at);
  };
  const auto decide = [&](const std::string& token) {
    std::string as = after("<option value=\"");
    as.replace(as.find(' '), 1, "+");
    const std::string form = fmt::format("user_code={}&form_token={}&as={}&decision=approve&control_token={}",
                                         code,
                                         after("name=\"form_token\" value=\""),
                                         as,
                                         token);
    return ask(wire,
               {.line = "POST /device", .headers = {"Content-Type: application/x-www-form-urlencoded"}, .body = form})
        .status;
  };
  CHECK(decide("") == 403);
  CHECK(decide("guess") == 403);
  CHECK(decide("turnkey") == (has_token ? 200 : 403));
}

TEST_CASE("web: the form's token cannot be computed by who asked for the login", "[server-mock]") {
  const auto token = [] {
    Wire wire;
    const Json started =
        parse(ask(wire,
                  {.line = "POST /v1/auth/device-authorizations",
                   .headers = {json_type},
                   .body = R"({"client_name": "x", "cli_version": "1", "scopes": ["documents:read"]})"}));
    const RawAnswer page = ask(wire, {.line = "GET /device?user_code=" + started.at("user_code").get<std::string>()});
    const std::size_t at = page.body.find("name=\"form_token\" value=\"");
    REQUIRE(at != std::string::npos);
    return page.body.substr(at + 25, 60);
  };
  CHECK(token() != token());  // two servers of one seed
}

}  // namespace ws::mock::test
