// What is kept, written and graded of a request with its response: of our own journal, and of recordings.
#include "server-mock/journal/redactor.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "api-client/contract/secrets.hpp"

using namespace ws;
using namespace ws::mock;

namespace {

/// In a journal.
Json redacted_of(const Json& body) {
  const std::string text = dump(body);
  const WireExchange wire = {.method = "POST", .request_body = text, .request_bytes = text.size()};
  return *Redactor(Redactor::Undescribed::shown).redact(wire).request_body;
}

}  // namespace

TEST_CASE("redactor: every member that is marked is replaced, and every other stays", "[server-mock]") {
  const std::string canary = "canary-314159265";
  for (const contract::Schema* schema : contract::schemas()) {
    for (const contract::Field& field : schema->fields) {
      CAPTURE(schema->name, field.name);
      const bool is_secret = !field.secret.empty();
      const std::string name(field.name);
      const Json nested = Json{{"data", Json::array({Json{{name, canary}}})}};
      CHECK((dump(redacted_of(nested)).find(canary) == std::string::npos) == is_secret);
      const Json deep = Json{{name, Json{{"x", Json::array({canary})}}}};
      CHECK((dump(redacted_of(deep)).find(canary) == std::string::npos) == is_secret);
    }
  }
}

TEST_CASE("redactor: in free-form members, names that say so and values that look like keys are replaced",
          "[server-mock]") {
  const Json before = {{"result",
                        {{"password", "short"},
                         {"note", "wsk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"},
                         {"header", "Bearer x"},
                         {"random", "q8Zr2LkP0vTn5YwXc3Jd7Hs1"},
                         {"text", "The words of a person, with 1 number."},
                         {"day", "2026-11-20T10:00:00.000Z"},
                         {"hash", std::string(64, 'a')},
                         {"count", 7},
                         {"none", nullptr}}}};
  const Json after = {{"result",
                       {{"password", contract::redacted},
                        {"note", contract::redacted},
                        {"header", contract::redacted},
                        {"random", contract::redacted},
                        {"text", "The words of a person, with 1 number."},
                        {"day", "2026-11-20T10:00:00.000Z"},
                        {"hash", std::string(64, 'a')},
                        {"count", 7},
                        {"none", nullptr}}}};
  CHECK(redacted_of(before) == after);
}

TEST_CASE("redactor: a 422 does not repeat the secret that it is about", "[server-mock]") {
  const Json before = {{"detail",
                        Json::array({{{"loc", {"body", "lease_token"}}, {"input", "short"}},
                                     {{"loc", {"body", "title"}}, {"input", "shown"}}})}};
  CHECK(redacted_of(before).at("detail").at(0).at("input") == contract::redacted);
  CHECK(redacted_of(before).at("detail").at(1).at("input") == "shown");
}

TEST_CASE("redactor: a journal shows nothing that may be a key in a place that nobody describes", "[server-mock]") {
  const std::string canary = "q8Zr2LkP0vTn5YwXc3Jd7Hs1";
  WireExchange wire = {.method = "POST",
                       .path = "/somewhere/" + canary,
                       .query = "x=" + canary,
                       .request_headers = {{"X-Whatever", canary}, {"Authorization", "Basic " + canary}},
                       .request_body = dump({{"nobody_knows", canary}, {"payload", {{"list", {canary}}}}}),
                       .status = 422,
                       .response_body = dump({{"detail", {{{"loc", {"body"}}, {"input", canary}, {"msg", canary}}}}})};
  wire.request_bytes = wire.request_body.size();
  wire.response_bytes = wire.response_body.size();
  const Exchange shown = Redactor(Redactor::Undescribed::shown).redact(wire);
  CHECK(dump(to_json(shown)).find(canary) == std::string::npos);
  CHECK(shown.path == "/somewhere/[redacted]");
  CHECK(shown.query == "x=[redacted]");
  CHECK(shown.request_header("x-whatever") == contract::redacted);
  CHECK(shown.request_body->at("nobody_knows") == contract::redacted);
  CHECK(shown.response_body->at("detail").at(0).at("loc") == Json{"body"});
}

TEST_CASE("redactor: a recording keeps what free-form members hold, unless it may be a key", "[server-mock]") {
  const Json result = {
      {"quote", "the words"}, {"at", 7}, {"list", {"a b", "q8Zr2LkP0vTn5YwXc3Jd7Hs1"}}, {"password", "x"}};
  const std::string body = dump({{"lease_token", "t"}, {"result", result}});
  const WireExchange wire = {.method = "POST",
                             .path = "/v1/agent-events/018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b:complete",
                             .request_body = body,
                             .request_bytes = body.size()};
  const Json kept = Redactor(Redactor::Undescribed::hidden).redact(wire).request_body->at("result");
  CHECK(kept ==
        Json{{"quote", "the words"}, {"at", 7}, {"list", {"a b", "<text:1:24>"}}, {"password", "<secret:1:1>"}});
}

TEST_CASE("redactor: a secret is written nowhere, wherever it stands", "[server-mock]") {
  const std::string canary = "canary-3141592653589793238462643";
  const auto json = http::Pairs{{"Content-Type", "application/json"}};
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
    Redactor redactor(Redactor::Undescribed::hidden);
    const Exchange redacted = redactor.redact(exchange);
    CAPTURE(exchange.method, exchange.path, exchange.status);
    CHECK(dump(to_json(redacted)).find("canary") == std::string::npos);
    CHECK(shape_line(redacted).find("canary") == std::string::npos);
    CHECK(read_recorded(dump(to_json(redacted))));
  }
}

TEST_CASE("redactor: a secret that was seen once is also replaced in texts that stay", "[server-mock]") {
  Redactor redactor(Redactor::Undescribed::hidden);
  const Exchange redacted = redactor.redact(
      {.method = "POST",
       .path = "/v1/documents",
       .request_headers = {{"Authorization", "Bearer a-key-that-nobody-may-see"}},
       .request_body =
           R"({"title": "My key is a-key-that-nobody-may-see", "content": "wsk_abcdefghijklmnopqrstuvwxyz"})",
       .status = 201});
  CHECK(redacted.request_header("authorization") == "<key:1:25>");
  CHECK(redacted.request_body->at("title") == "My key is <key:1:25>");
  CHECK(dump(to_json(redacted)).find("wsk_a") == std::string::npos);
}

TEST_CASE("redactor: every member that the contract marks as a secret is a placeholder, on both sides",
          "[server-mock]") {
  const std::string canary = "canary-3141592653589793238462643";
  for (const contract::Operation* operation : contract::operations()) {
    const contract::Schema* answer = operation->responses.front().schema;
    for (const contract::Schema* schema : {operation->request, answer}) {
      if (schema == nullptr) continue;
      for (const contract::Field& field : schema->fields) {
        if (field.secret.empty()) continue;
        CAPTURE(operation->id, field.name);
        const std::string body = "{\"" + std::string(field.name) + "\": \"" + canary + "\"}";
        Redactor redactor(Redactor::Undescribed::hidden);
        const WireExchange exchange = {.method = std::string(contract::name(operation->method)),
                                       .path = std::string(operation->path),
                                       .request_body = body,
                                       .status = operation->responses.front().status,
                                       .response_headers = {{"Content-Type", "application/json"}},
                                       .response_body = body};
        const std::string line = dump(to_json(redactor.redact(exchange)));
        CHECK(line.find(canary) == std::string::npos);
        CHECK(line.find(field.name) != std::string::npos);
      }
    }
  }
}

TEST_CASE("recording: a line of an earlier form, of shapes, and of something else is refused with the reason",
          "[server-mock]") {
  const auto refused = [](std::string_view line) {
    const auto read = read_recorded(line);
    REQUIRE_FALSE(read);
    return read.error().what;
  };
  CHECK_THAT(refused(R"({"v": 1, "number": 1, "status": 200, "request": {}, "response": {}})"),
             Catch::Matchers::Contains("earlier ws-mock") && Catch::Matchers::Contains("record again"));
  CHECK_THAT(refused(R"({"shapes_only": true, "status": 200})"), Catch::Matchers::Contains("holds no values"));
  CHECK_THAT(refused("{}"), Catch::Matchers::Contains("not a line of a recording"));
}

TEST_CASE("redactor: a query stays one, whatever its values hold", "[server-mock]") {
  Redactor redactor(Redactor::Undescribed::hidden);
  const Exchange redacted = redactor.redact({.method = "GET",
                                             .path = "/v1/admin/tests/cases",
                                             .query = "query=a%26b%3Dc+d%25&limit=5&unknown=x%26y&limit=6",
                                             .status = 200});
  CHECK(redacted.query == "query=a%26b%3Dc%20d%25&limit=5&unknown=<text:1:3>&limit=6");
  CHECK(read_recorded(dump(to_json(redacted)))->query == redacted.query);
}
