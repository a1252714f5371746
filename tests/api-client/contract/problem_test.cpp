#include "api-client/contract/problem.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/random.hpp"
#include "api-client/base/utf8.hpp"

using ws::Failure;
using ws::Json;
using namespace ws::contract;

namespace {

Problem read(int status, std::string_view body, std::string_view content_type = "application/json") {
  return read_problem(status, content_type, "header-id", body);
}

}  // namespace

TEST_CASE("problem: the plain style", "[contract]") {
  const Problem problem =
      read(409, R"({"detail": "The document has moved on.", "code": "revision_conflict", "request_id": "r-1",
                    "current_content_revision": 7})");
  CHECK(problem.status == 409);
  CHECK(problem.code == "revision_conflict");
  CHECK(problem.message == "The document has moved on.");
  CHECK(problem.request_id == "r-1");
  CHECK((*problem.members)["current_content_revision"] == 7);
}

TEST_CASE("problem: every other style says the same", "[contract]") {
  const std::pair<std::string, std::string> bodies[] = {
      {"application/problem+json",
       R"({"type": "about:blank", "title": "Not Found", "status": 404, "detail": "No such document",
           "code": "not_found"})"},
      {"application/json", R"({"detail": {"code": "not_found", "message": "No such document"}})"},
      {"application/json", R"({"error": {"code": "not_found", "message": "No such document"}})"},
      {"application/json", R"({"error": "not_found", "error_description": "No such document"})"},
      {"application/json", R"({"error": "not_found", "message": "No such document"})"},
      {"", R"({"detail": "No such document", "code": "not_found"})"},
  };
  for (const auto& [content_type, body] : bodies) {
    CAPTURE(body);
    const Problem problem = read(404, body, content_type);
    CHECK(problem.message == "No such document");
    CHECK(problem.code == "not_found");
    CHECK(problem.request_id == "header-id");
  }
}

TEST_CASE("problem: a bare detail, a list, a text, a page, nothing", "[contract]") {
  CHECK(read(404, R"({"detail": "No such document"})").message == "No such document");
  CHECK(read(404, R"(["No such document"])").message == "No such document");
  CHECK(read(404, R"("No such document")").message == "No such document");
  CHECK(read(502, "upstream is down\nat line 5", "text/plain").message == "upstream is down");
  CHECK(read(404, "").message == "Not Found");
  CHECK(read(404, "{}").message == "Not Found");
  CHECK(read(404, "null").message == "Not Found");
  CHECK(read(404, R"({"detail": []})").message == "Not Found");
  CHECK(read(404, R"({"detail": 5, "title": "Gone fishing"})").message == "Gone fishing");
  CHECK(read(400, R"({"error": "invalid_grant"})").message == "invalid_grant");
  CHECK(read(401, R"({"error": {"message": "Expired"}})").message == "Expired");
  CHECK(read(799, "").message == "Status 799");
}

TEST_CASE("problem: of a page its title is told, else its first heading", "[contract]") {
  const auto page = [](std::string_view html) { return read(502, html, "text/html; charset=utf-8").message; };
  CHECK(page("<!doctype html><HTML><head><TITLE lang=en>\n 502 Bad\n Gateway &amp; more</TITLE>") ==
        "502 Bad Gateway & more");
  CHECK(page("<html><body><h1>Sorry, <b>we</b> are down") == "Bad Gateway");
  CHECK(page("<html><body><h1>Sorry, <b>we</b> are down</h1></body>") == "Sorry, we are down");
  CHECK(page("<html><titles>x</titles><title></title>") == "Bad Gateway");
  CHECK(page("<") == "Bad Gateway");
  CHECK(read(503, "  <html><title>Maintenance</title>", "application/json").message == "Maintenance");
}

TEST_CASE("problem: validation entries are summed up, the first three of them", "[contract]") {
  const Problem problem = read(422, R"({"detail": [
    {"loc": ["body", "scopes", 3], "msg": "Input should be a scope", "type": "literal_error"},
    {"loc": ["query", "limit"], "msg": "too large"}, {"msg": "odd"}, {"loc": ["body", "x"], "msg": "left out"},
    {"loc": ["body", "y"], "msg": "left out"}], "code": "validation_error"})");
  CHECK(problem.message == "body.scopes[3]: Input should be a scope; query.limit: too large; odd; and 2 more");
  CHECK(problem.code == "validation_error");
}

TEST_CASE("problem: a used idempotency key is told by the type of its entry", "[contract]") {
  const Problem problem = read(422, R"({"detail": [{"loc": ["header", "Idempotency-Key"], "msg": "used before",
                                        "type": "idempotency_key_reused"}], "code": "validation_error"})");
  CHECK(problem.code == "idempotency_key_reused");
}

TEST_CASE("problem: a hostile body makes a poor message, not an error", "[contract]") {
  CHECK(read(500, std::string(300'000, '[')).message == "Internal Server Error");
  CHECK(read(500, "\xff\xfe\x00garbage").message == "Internal Server Error");
  CHECK(read(500, std::string(3 << 20, ' ') + "{}").message == "Internal Server Error");
  CHECK(read(500, "{\"detail\": \"" + std::string(5000, 'x') + "\"}").message.size() <= 502);
  const Problem escape =
      read(500, R"({"detail": "a\u001b[31mred\u0007\r\nnext\u202e\u0000 \u009b2J end", "code": "x y"})");
  CHECK(escape.message == "a [31mred next 2J end");
  CHECK(escape.code.empty());
  const Problem wide = read(500, "{\"detail\": \"" + std::string(2000, 'x') + "😀\"}");
  CHECK(ws::utf8::code_points(wide.message) == 500);
  CHECK(read_problem(500, "", "bad id\x1b[0m", "").request_id.empty());
  CHECK(read(500, R"({"detail": {"code": 5, "message": {"a": []}}})").message == "Internal Server Error");
  CHECK(read(422, R"({"detail": [1, null, [], {"loc": "x", "msg": 5}, {"loc": [null, {}], "msg": "m"}]})").message ==
        "m; and 4 more");
  CHECK(read(502, std::string(1 << 20, '<'), "text/html").message == "Bad Gateway");
}

TEST_CASE("problem: thousands of broken bodies are read without harm", "[contract]") {
  const std::string bodies[] = {
      R"({"detail": [{"loc": ["body", "scopes", 3], "msg": "m", "type": "t"}], "code": "validation_error"})",
      R"({"detail": {"code": "not_found", "message": "No such document"}, "request_id": "r"})",
      R"({"error": "invalid_grant", "error_description": "\u00e9\ud83d\ude00"})",
      "<!doctype html><html><head><title>502 &amp; more</title></head><body><h1>x</h1></body></html>",
  };
  ws::SeededRandom random(7);
  int sound = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string body = bodies[random.below(std::size(bodies))];
    for (std::uint64_t i = 0; i <= random.below(8); ++i) {
      body[random.below(body.size())] = static_cast<char>(random.below(256));
    }
    body.resize(random.below(body.size() + 1));
    const Problem problem =
        read(static_cast<int>(400 + random.below(200)), body, random.below(2) == 0 ? "" : "text/html");
    const Failure failure = to_failure(problem, "docs.get");
    if (!problem.message.empty() && ws::utf8::is_valid(problem.message) && !failure.what.empty()) ++sound;
  }
  CHECK(sound == 5000);
}

TEST_CASE("failure: the status decides the kind", "[contract]") {
  using Kind = Failure::Kind;
  const std::pair<int, Kind> kinds[] = {
      {400, Kind::invalid},
      {401, Kind::auth},
      {403, Kind::forbidden},
      {404, Kind::not_found},
      {405, Kind::invalid},
      {408, Kind::service},
      {409, Kind::conflict},
      {410, Kind::not_found},
      {412, Kind::conflict},
      {413, Kind::invalid},
      {415, Kind::invalid},
      {416, Kind::invalid},
      {422, Kind::invalid},
      {428, Kind::pending},
      {500, Kind::service},
      {503, Kind::service},
      {429, Kind::rate_limited},
      {302, Kind::internal},
  };
  for (const auto& [status, kind] : kinds) {
    CAPTURE(status);
    CHECK(kind_of_status(status) == kind);
  }
}

TEST_CASE("failure: the device login's codes decide more than their status", "[contract]") {
  const auto kind = [](std::string_view code) {
    return to_failure(read(400, "{\"error\": \"" + std::string(code) + "\"}"), "auth.token").kind;
  };
  CHECK(kind("authorization_pending") == Failure::Kind::pending);
  CHECK(kind("slow_down") == Failure::Kind::pending);
  CHECK(kind("access_denied") == Failure::Kind::forbidden);
  CHECK(kind("expired_token") == Failure::Kind::auth);
  CHECK(kind("invalid_grant") == Failure::Kind::auth);
  CHECK(kind("something_else") == Failure::Kind::invalid);
}

TEST_CASE("failure: says what was tried, what came back and what to do", "[contract]") {
  const Failure failure = to_failure(
      read(403, R"({"detail": "The key lacks a scope.", "code": "missing_scope", "required_scope": "documents:share",
                    "request_id": "r-9"})"),
      "docs.share");
  CHECK(failure.kind == Failure::Kind::forbidden);
  CHECK(failure.what == "docs.share: The key lacks a scope (403 missing_scope)");
  CHECK(failure.hint ==
        "the key lacks the scope documents:share: run `ws login --scopes documents:share,...` with every scope that "
        "you need");
  CHECK(failure.request_id == "r-9");
  CHECK(failure.code == "missing_scope");
  CHECK(failure.call.operation == "docs.share");
  CHECK(failure.call.http_status == 403);
  CHECK(failure.call.applied == ws::Applied::no);
  CHECK_FALSE(failure.call.retryable);
  CHECK(ws::parse_bounded(failure.call.details).value()["required_scope"] == "documents:share");
}

TEST_CASE("failure: the scope comes from the body, else from the table, and never as a command", "[contract]") {
  const auto hint = [](std::string_view body) { return to_failure(read(403, body), "docs.update").hint; };
  CHECK_THAT(hint(R"({"detail": {"code": "missing_scope", "required_scope": "sync:write"}})"),
             Catch::Matchers::Contains("--scopes sync:write,"));
  CHECK_THAT(hint(R"({"code": "missing_scope"})"), Catch::Matchers::Contains("--scopes documents:write,"));
  CHECK_THAT(hint(R"({"code": "missing_scope", "required_scope": "x`; rm -rf /"})"),
             Catch::Matchers::Contains("--scopes documents:write,"));
  CHECK_THAT(hint(R"({"code": "insufficient_role"})"), Catch::Matchers::Contains("the role editor"));
}

TEST_CASE("failure: what is not found, or not allowed, says where to look", "[contract]") {
  CHECK_THAT(to_failure(read(404, ""), "docs.get").hint, Catch::Matchers::Contains("`ws docs list`"));
  CHECK_THAT(to_failure(read(404, ""), "docs.list").hint, Catch::Matchers::Contains("the base URL"));
  CHECK_THAT(to_failure(read(404, ""), "docs.share").hint, Catch::Matchers::Contains("`ws agents list`"));
  CHECK_THAT(to_failure(read(404, ""), "sync.source_get").hint, Catch::Matchers::Contains("`ws sync share`"));
  CHECK(to_failure(read(404, ""), "nodes.move").hint.empty());
  CHECK_THAT(to_failure(read(403, ""), "docs.get").hint, Catch::Matchers::Contains("an admin of the Workspace"));
}

TEST_CASE("failure: a refused key says how to log in", "[contract]") {
  CHECK(to_failure(read(401, ""), "me.get").hint == "run `ws login`");
  CHECK(to_failure(read(401, ""), "").what == "Unauthorized (401)");
}

TEST_CASE("failure: after a server error nobody knows whether a write was applied", "[contract]") {
  const auto call = [](int status, std::string_view operation) { return to_failure(read(status, ""), operation).call; };
  CHECK(call(500, "docs.create").applied == ws::Applied::unknown);
  CHECK(call(500, "docs.create").retryable);
  CHECK(call(500, "docs.get").applied == ws::Applied::no);
  CHECK_FALSE(call(500, "docs.share").retryable);
  CHECK(call(429, "docs.share").retryable);
  CHECK(call(422, "docs.create").applied == ws::Applied::no);
}
