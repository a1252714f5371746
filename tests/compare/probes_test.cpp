// Which switch an exchange shows: every switch of the mock has a probe, and every probe every value.
#include "server-mock/compare/probes.hpp"

#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"

using namespace ws;
using namespace ws::mock;
using namespace ws::mock::compare;

TEST_CASE("probes: every value of every switch has a pattern, and nothing else has one", "[compare]") {
  std::set<std::string> switched;
  for (const AssumptionSwitch& one : assumption_switches()) {
    for (const std::string_view value : one.values) switched.insert(std::string(one.key) + "=" + std::string(value));
  }
  std::set<std::string> looked;
  for (const Probe& probe : probes()) {
    for (const Pattern& pattern : probe.patterns)
      looked.insert(std::string(probe.key) + "=" + std::string(pattern.value));
  }
  CHECK(looked == switched);
}

TEST_CASE("redactor: a secret is written nowhere, wherever it stands", "[compare]") {
  const std::string canary = "canary-3141592653589793238462643";
  const auto json = ws::http::Headers{{"Content-Type", "application/json"}};
  const auto with = [&](const char* name) {
    auto headers = json;
    headers.emplace_back(name, canary);
    return headers;
  };
  const std::string bare = "{\"x\": \"" + canary + "\"}";
  const auto body = [&](const std::string& member) { return "{\"" + member + "\": \"" + canary + "\"}"; };
  const std::vector<WireExchange> exchanges = {
      {.method = "GET", .path = "/v1/me", .request_headers = {{"Authorization", "Bearer " + canary}}, .status = 200},
      {.method = "GET", .path = "/v1/me", .request_headers = {{"Authorization", "Basic " + canary}}, .status = 401},
      {.method = "GET", .path = "/v1/me", .request_headers = {{"Cookie", "session=" + canary}}, .status = 200},
      {.method = "GET", .path = "/v1/me", .request_headers = {{"X-Api-Key", canary}}, .status = 200},
      {.method = "GET", .path = "/v1/me", .request_headers = {{"X-Whatever", canary}}, .status = 200},
      {.method = "POST", .path = "/v1/projects", .request_headers = {{"Idempotency-Key", canary}}, .status = 201},
      {.method = "GET", .path = "/v1/documents", .query = "access_token=" + canary, .status = 200},
      {.method = "GET", .path = "/v1/documents", .query = "cursor=" + canary, .status = 200},
      {.method = "GET", .path = "/v1/documents", .query = "limit=" + canary, .status = 422},
      {.method = "GET", .path = "/v1/documents/" + canary, .status = 422},
      {.method = "GET", .path = "/somewhere/" + canary, .status = 404},
      {.method = "PUT", .status = 200, .upload_url = "https://store.example.com/b?signature=" + canary},
      {.method = "POST", .path = "/v1/auth/device-token", .request_body = body("device_code"), .status = 400},
      {.method = "POST",
       .path = "/v1/agent-events/018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b:renew",
       .request_body = body("lease_token"),
       .status = 409},
      {.method = "POST", .path = "/v1/documents", .request_body = body("nobody_knows"), .status = 201},
      {.method = "POST", .path = "/v1/documents", .request_body = "no JSON " + canary, .status = 422},
      {.method = "POST",
       .path = "/v1/agent-events/018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b:complete",
       .request_body = "{\"result\": {\"password\": \"" + canary + "\"}}",
       .status = 200},
      {.method = "POST",
       .path = "/v1/auth/device-token",
       .status = 200,
       .response_headers = json,
       .response_body = body("secret")},
      {.method = "POST",
       .path = "/v1/auth/device-authorizations",
       .status = 201,
       .response_headers = json,
       .response_body = body("user_code")},
      {.method = "POST",
       .path = "/v1/auth/device-authorizations",
       .status = 201,
       .response_headers = json,
       .response_body = "{\"verification_uri\": \"https://x.example.com/device?code=" + canary + "\"}"},
      {.method = "POST",
       .path = "/v1/auth/device-authorizations",
       .status = 201,
       .response_headers = json,
       .response_body = body("verification_uri_complete")},
      {.method = "POST",
       .path = "/v1/agents",
       .status = 201,
       .response_headers = json,
       .response_body = "{\"credential\": {\"secret\": \"" + canary + "\", \"display_prefix\": \"" + canary + "\"}}"},
      {.method = "POST",
       .path = "/v1/files/uploads",
       .status = 201,
       .response_headers = json,
       .response_body = "{\"upload_url\": \"https://s.example.com/?sig=" + canary +
                        "\", \"upload_headers\": {\"x-key\": \"" + canary + "\"}}"},
      {.method = "POST",
       .path = "/v1/files/uploads",
       .status = 201,
       .response_headers = json,
       .response_body = body("blob_name")},
      {.method = "POST",
       .path = "/v1/agent-events:claim",
       .status = 200,
       .response_headers = json,
       .response_body =
           "{\"event\": {\"lease_token\": \"" + canary + "\", \"payload\": {\"secret\": [\"" + canary + "\"]}}}"},
      {.method = "GET", .path = "/v1/me", .status = 200, .response_headers = json, .response_body = bare},
      {.method = "GET",
       .path = "/v1/me",
       .status = 500,
       .response_headers = json,
       .response_body = "{\"detail\": \"bad key " + canary + "\"}"},
      {.method = "GET",
       .path = "/v1/me",
       .status = 422,
       .response_headers = json,
       .response_body =
           "{\"detail\": [{\"loc\": [\"body\"], \"input\": \"" + canary + "\", \"msg\": \"" + canary + "\"}]}"},
      {.method = "GET",
       .path = "/v1/me",
       .status = 502,
       .response_headers = {{"Content-Type", "text/html"}},
       .response_body = "<p>" + canary},
      {.method = "GET",
       .path = "/v1/me",
       .status = 302,
       .response_headers = {{"Location", "https://x.example.com/?k=" + canary}}},
      {.method = "GET", .path = "/v1/me", .status = 200, .response_headers = with("Set-Cookie"), .response_body = "{}"},
      {.method = "GET",
       .path = "/v1/me",
       .status = 200,
       .response_headers = with("X-Request-Id"),
       .response_body = "{}"},
      {.method = "GET", .path = "/v1/me", .status = 200, .response_headers = with("ETag"), .response_body = "{}"},
  };
  CHECK(exchanges.size() >= 30);
  for (const WireExchange& exchange : exchanges) {
    ExchangeRedactor redactor;
    const RedactedExchange redacted = redactor.redact(exchange);
    CAPTURE(exchange.method, exchange.path, exchange.status);
    CHECK(redacted.line().find("canary") == std::string::npos);
    CHECK(redacted.shape_line().find("canary") == std::string::npos);
    CHECK(RedactedExchange::read(redacted.line()));
  }
}

TEST_CASE("redactor: a secret that was seen once is also replaced in texts that stay", "[compare]") {
  ExchangeRedactor redactor;
  const RedactedExchange redacted = redactor.redact(
      {.method = "POST",
       .path = "/v1/documents",
       .request_headers = {{"Authorization", "Bearer a-key-that-nobody-may-see"}},
       .request_body =
           R"({"title": "My key is a-key-that-nobody-may-see", "content": "wsk_abcdefghijklmnopqrstuvwxyz"})",
       .status = 201});
  CHECK(redacted.exchange().request_header("authorization") == "<key:1:25>");
  CHECK(redacted.exchange().request_body->at("title") == "My key is <key:1:25>");
  CHECK(redacted.line().find("wsk_a") == std::string::npos);
}

TEST_CASE("redactor: every member that the contract marks as a secret is a placeholder, on both sides", "[compare]") {
  const std::string canary = "canary-3141592653589793238462643";
  for (const contract::Operation* operation : contract::operations()) {
    const contract::Schema* answer = operation->responses.front().schema;
    for (const contract::Schema* schema : {operation->request, answer}) {
      if (schema == nullptr) continue;
      for (const contract::Field& field : schema->fields) {
        if (field.secret.empty()) continue;
        CAPTURE(operation->id, field.name);
        const std::string body = "{\"" + std::string(field.name) + "\": \"" + canary + "\"}";
        ExchangeRedactor redactor;
        const WireExchange exchange = {.method = std::string(contract::name(operation->method)),
                                       .path = std::string(operation->path),
                                       .request_body = body,
                                       .status = operation->responses.front().status,
                                       .response_headers = {{"Content-Type", "application/json"}},
                                       .response_body = body};
        const std::string line = redactor.redact(exchange).line();
        CHECK(line.find(canary) == std::string::npos);
        CHECK(line.find(field.name) != std::string::npos);
      }
    }
  }
}

TEST_CASE("recording: a line of an earlier form, of shapes, and of something else is refused with the reason",
          "[compare]") {
  const auto refused = [](std::string_view line) {
    const auto read = RedactedExchange::read(line);
    REQUIRE_FALSE(read);
    return read.error().what;
  };
  CHECK_THAT(refused(R"({"v": 1, "number": 1, "status": 200, "request": {}, "response": {}})"),
             Catch::Matchers::Contains("earlier ws-mock") && Catch::Matchers::Contains("record again"));
  CHECK_THAT(refused(R"({"shapes_only": true, "status": 200})"), Catch::Matchers::Contains("shapes alone"));
  CHECK_THAT(refused("{}"), Catch::Matchers::Contains("not a line of a recording"));
}

TEST_CASE("redactor: a query stays one, whatever its values hold", "[compare]") {
  ExchangeRedactor redactor;
  const RedactedExchange redacted = redactor.redact({.method = "GET",
                                                     .path = "/v1/admin/tests/cases",
                                                     .query = "query=a%26b%3Dc+d%25&limit=5&unknown=x%26y&limit=6",
                                                     .status = 200});
  CHECK(redacted.exchange().query == "query=a%26b%3Dc%20d%25&limit=5&unknown=<text:1:3>&limit=6");
  CHECK(RedactedExchange::read(redacted.line())->exchange().query == redacted.exchange().query);
}
