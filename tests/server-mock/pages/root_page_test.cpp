// `/`: a page for people, and nothing new for programs.
#include <catch2/catch.hpp>

#include "tests/server-mock/wire.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;
using Catch::Matchers::Contains;

namespace {

/// What Chromium and Firefox send for an address that a person types.
const std::string browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

RawAnswer ask_root(Wire& wire,
                   const std::vector<std::string>& headers,
                   const std::string& host = "localhost:4711",
                   const std::string& line = "GET /") {
  std::string bytes = line + " HTTP/1.1\r\nHost: " + host + "\r\n";
  for (const std::string& header : headers) bytes += header + "\r\n";
  return wire.say(bytes + "\r\n");
}

}  // namespace

TEST_CASE("root page: a browser is told what this is, its address, how to log in, and where else to look",
          "[server-mock]") {
  Wire wire;
  const RawAnswer page = ask_root(wire, {browser});
  REQUIRE(page.status == 200);
  CHECK_THAT(page.body, Contains("ws-mock") && Contains("<code>http://localhost:4711</code>"));
  CHECK_THAT(page.body, Contains("<code>ws login --base-url http://localhost:4711</code>"));
  for (const std::string path : {"/_mock", "/openapi.json", "/device"}) {
    CAPTURE(path);
    CHECK_THAT(page.body, Contains("href=\"http://localhost:4711" + path + "\""));
    CHECK(wire.ask({.target = path}).status == 200);
  }
  CHECK(page.header("content-type") == "text/html; charset=utf-8");
  CHECK(page.header("cache-control") == "no-store");
  CHECK(page.header("x-content-type-options") == "nosniff");
  CHECK(page.header("x-mock-operation") == "page.root");
  CHECK_THAT(page.header("content-security-policy"),
             Contains("default-src 'none'") && Contains("frame-ancestors 'none'"));
  CHECK(page.body.find("<script") == std::string::npos);
}

TEST_CASE("root page: programs get what they got", "[server-mock]") {
  Wire wire;
  const std::vector<std::string> headers = GENERATE(std::vector<std::string>{},
                                                    std::vector<std::string>{"Accept: */*"},
                                                    std::vector<std::string>{"Accept: application/json, */*;q=0.8"},
                                                    std::vector<std::string>{"Accept: text/html-like, text/*"});
  const RawAnswer answer = ask_root(wire, headers);
  CHECK(answer.status == 404);
  CHECK(answer.header("x-mock-operation") == "none");
  CHECK_THAT(answer.header("content-type"), Contains("json"));
  CHECK(ask_root(wire, {browser}, "localhost", "POST /").status == 404);
  CHECK(ask_root(wire, {browser}, "localhost", "GET /nothing").status == 404);
}

TEST_CASE("root page: as every page, only under the server's own names and for nobody else's pages", "[server-mock]") {
  ApplicationOptions options;
  const bool is_open = GENERATE(false, true);
  if (is_open) options.names = http::AllowedHosts::of({.host = "0.0.0.0", .port = 8080}, {});
  Wire wire(options);
  CHECK(code_of(ask_root(wire, {browser}, "evil.example")) == "foreign_host");
  CHECK(code_of(ask_root(wire, {browser, "Origin: https://evil.example"})) == "foreign_origin");
  CHECK(code_of(ask_root(wire, {browser, "Sec-Fetch-Site: cross-site"})) == "foreign_origin");
  CHECK(code_of(ask_root(wire, {browser, "Sec-Fetch-Site: cross-site", "Authorization: Bearer x"})) ==
        "foreign_origin");
  // A link from elsewhere may be followed: the page holds no data.
  CHECK(ask_root(wire, {browser, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"})
            .status == 200);
  CHECK(ask_root(wire, {browser, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"})
            .status == 403);
}

TEST_CASE("root page: a sandbox has its own, and without control calls there is no inspector", "[server-mock]") {
  Wire wire;
  const std::string id = wire.control("POST", "/sandboxes", Json::object(), 201).at("id");
  for (const std::string end : {"", "/"}) {
    const RawAnswer page = ask_root(wire, {browser}, "localhost:4711", "GET /_s/" + id + end);
    REQUIRE(page.status == 200);
    CHECK_THAT(page.body, Contains("href=\"http://localhost:4711/_s/" + id + "/_mock\""));
  }
  ApplicationOptions options;
  options.control.is_on = false;
  Wire off(options);
  CHECK_THAT(ask_root(off, {browser}).body, Contains("openapi.json") && !Contains("/_mock"));
}
