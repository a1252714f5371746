#include "server-mock/journal/journal.hpp"

#include <catch2/catch.hpp>

#include "api-client/contract/operations.hpp"
#include "tests/server-mock/wire.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::test;

TEST_CASE("journal: records requests and responses, with secrets redacted", "[server-mock]") {
  Wire wire;
  wire.control("DELETE", "/requests", nullptr, 204);
  wire.send("POST", "/v1/auth/device-token", {{"device_code", std::string(43, 'd')}});
  wire.get("/v1/documents?limit=2");
  wire.ask({.target = "/nowhere"});
  const Json data = wire.control("GET", "/requests").at("data");
  REQUIRE(data.size() == 3);
  CHECK(data[0].at("operation") == "auth.token");
  CHECK(data[0].at("request_body") == Json{{"device_code", "[redacted]"}});
  CHECK(data[0].at("request_headers").at("authorization") == "[redacted]");
  CHECK(data[0].at("response_body").at("error") == "invalid_grant");
  CHECK(data[1].at("path") == "/v1/documents");
  CHECK(data[1].at("query") == "limit=2");
  CHECK(data[1].at("time") == "2026-11-20T10:00:00.000Z");
  CHECK(data[2].at("operation").is_null());
  CHECK(data[2].at("status") == 404);
  CHECK(wire.control("GET", "/requests?operation=docs.list").at("data").size() == 1);
  CHECK(wire.control("GET", "/requests?since=" + dump(data[0].at("seq"))).at("data").size() == 2);
}

TEST_CASE("journal: one that keeps nothing says how much it has dropped", "[server-mock]") {
  Journal journal({.entries = 0});
  journal.add({.head = "GET /x HTTP/1.1\r\n\r\n"}, http::Response(200), {});
  CHECK(journal.read({}) == Json{{"data", Json::array()}, {"dropped", 1}});
}

TEST_CASE("journal: keeps the newest entries within its bounds of entries and bytes", "[server-mock]") {
  Journal journal({.entries = 10, .bytes = 1000, .body_bytes = 300});
  const auto add = [&](std::string_view body) {
    const http::Request request = {.head = "POST /x HTTP/1.1\r\n\r\n", .body = body};
    journal.add(request, http::Response(200), {});
  };
  for (int i = 0; i < 25; ++i) add("1");
  Json read = journal.read({});
  CHECK(read.at("data").size() == 10);
  CHECK(read.at("data").at(9).at("seq") == 25);
  CHECK(read.at("dropped") == 15);
  const std::string large = "\"" + std::string(288, 'b') + "\"";
  for (int i = 0; i < 10; ++i) add(large);
  read = journal.read({});
  CHECK(read.at("data").size() == 3);
  add(std::string(5000, 'x'));
  CHECK(journal.read({}).at("data").back().at("request_body") == Json{{"omitted_bytes", 5000}});
}

TEST_CASE("journal: with 0 entries it keeps none", "[server-mock]") {
  ApplicationOptions options;
  options.sandbox.journal.entries = 0;
  Wire wire(options);
  wire.get("/v1/me");
  CHECK(wire.control("GET", "/requests").at("data").empty());
}

TEST_CASE("journal: records the response to a malformed request", "[server-mock]") {
  Wire wire;
  REQUIRE(wire.say("nonsense\r\n\r\n").status == 400);
  REQUIRE(wire.say("POST /v1/documents HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n").status == 413);
  const Json data = wire.control("GET", "/requests").at("data");
  REQUIRE(data.size() == 2);
  CHECK(data.at(0).at("status") == 400);
  CHECK(data.at(0).at("operation").is_null());
  CHECK(data.at(0).at("response_body").at("code") == "invalid_request");
  CHECK(data.at(1).at("status") == 413);
}

TEST_CASE("journal: every member that the contract marks as a secret is redacted, on both sides", "[server-mock]") {
  const std::string canary = "canary-314159265";
  for (const contract::Schema* schema : contract::schemas()) {
    for (const contract::Field& field : schema->fields) {
      if (field.secret.empty()) continue;
      CAPTURE(schema->name, field.name);
      Journal journal;
      const std::string body = dump(Json{{"data", Json::array({Json{{std::string(field.name), canary}}})}});
      const std::string head = "POST /x?" + std::string(field.name) + "=" + canary + " HTTP/1.1\r\n\r\n";
      http::Response response(200);
      response.body("application/json", body);
      journal.add({.head = head, .body = body}, response, {});
      CHECK(dump(journal.read({})).find(canary) == std::string::npos);
    }
  }
}

TEST_CASE("journal: no secret is shown of a body that is not quite JSON, of a path, nor of a known header",
          "[server-mock]") {
  const std::string canary = "wsk_canary_314159265";
  for (const std::string& body : {"{\"lease_token\": \"" + canary + "\",", "x {\"device_code\":\"" + canary + "\"}"}) {
    CAPTURE(body);
    Journal journal;
    const std::string head = "POST /v1/" + canary + "/a HTTP/1.1\r\nUser-Agent: a/1 " + canary + "\r\n\r\n";
    http::Response response(200);
    response.body("application/json", body);
    journal.add({.head = head, .body = body}, response, {});
    const Json entry = journal.read({}).at("data").at(0);
    CHECK(dump(entry).find(canary) == std::string::npos);
    CHECK(entry.at("path") == "/v1/[redacted]/a");
    CHECK(entry.at("request_body") == Json{{"omitted_bytes", body.size()}});
  }
}

TEST_CASE("journal: of a header that it does not know, what may be a key is not shown", "[server-mock]") {
  Journal journal;
  journal.add(
      {.head = "GET /x HTTP/1.1\r\nHost: a\r\nX-Api-Key: canary\r\nX-Build: 12\r\nCookie: canary\r\nAccept: b\r\n\r\n"},
      http::Response(200),
      {});
  CHECK(journal.read({}).at("data").at(0).at("request_headers") ==
        Json{{"host", "a"}, {"x-api-key", "[redacted]"}, {"x-build", "12"}, {"cookie", "[redacted]"}, {"accept", "b"}});
}

TEST_CASE("journal: a key is shown in no text, and other text is kept", "[server-mock]") {
  Wire wire;
  const std::string canary = "wsk_Canary-" + std::string(20, 'x');
  wire.control("DELETE", "/requests", nullptr, 204);
  const Json text = {{"title", "the key " + canary}, {"content", "keys begin with wsk_, as in `" + canary + "`; a=b"}};
  wire.ask({.method = "POST", .target = "/v1/documents", .token = wire.token(), .json = dump(text)});
  wire.get("/v1/search?query=" + canary + "+said", 405);
  wire.ask({.method = "POST",
            .target = "/v1/agent-events/018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b:fail",
            .token = wire.token(),
            .json = dump(Json{{"lease_token", "x"}, {"error", "401 for " + canary}, {canary, 1}})});
  wire.ask({.method = "POST",
            .target = "/v1/documents",
            .token = wire.token(),
            .json = "a plain " + canary,
            .headers = {"Content-Type: text/plain"}});
  const Json journal = wire.control("GET", "/requests").at("data");
  CHECK(dump(journal).find(canary) == std::string::npos);
  REQUIRE(journal.size() == 4);
  CHECK(journal[0].at("request_body").at("title") == "the key [redacted]");
  CHECK(journal[0].at("request_body").at("content") == "keys begin with wsk_, as in `[redacted]`; a=b");
  CHECK(journal[1].at("query") == "query=[redacted]+said");
  CHECK(journal[2].at("request_body").at("error") == "401 for [redacted]");
  CHECK(journal[3].at("request_body") == "a plain [redacted]");
}
