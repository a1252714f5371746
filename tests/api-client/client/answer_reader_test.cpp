#include "api-client/client/answer_reader.hpp"

#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "tests/support/fake_transport.hpp"

using namespace ws;
using http::Ending;
using http::TransportError;
using ws::test::json_response;
using ws::test::transport_error;

namespace {

Verdict read(std::string_view operation, http::Outcome outcome) {
  return read_answer(*contract::find_operation(operation), std::move(outcome), false, Time{});
}

}  // namespace

TEST_CASE("answer: a success is one whole JSON object", "[client]") {
  const Verdict verdict = read("me.get", json_response(200, R"({"b":1,"a":2})"));
  CHECK(verdict.ending == Ending::success);
  CHECK(verdict.reply.body == R"({"b":1,"a":2})");
  CHECK(*verdict.reply.json == Json{{"b", 1}, {"a", 2}});
  CHECK(read("me.get", json_response(200, "{}", {{"Content-Type", "application/vnd.x+json; charset=utf-8"}})).ending ==
        Ending::success);
  CHECK(read("questions.create", json_response(200, "{}")).ending == Ending::success);
  CHECK(read("questions.create", json_response(201, "{}")).ending == Ending::success);
}

TEST_CASE("answer: anything else with a 2xx is unusable, and so is a redirect", "[client]") {
  const http::Response response = GENERATE(json_response(200, "<html>login</html>", {{"Content-Type", "text/html"}}),
                                           json_response(200, "{}", {{"Content-Type", "text/html; charset=utf-8"}}),
                                           json_response(200, ""),
                                           json_response(204, ""),
                                           json_response(200, R"({"a":)"),
                                           json_response(200, R"({"a":1}{"b":2})"),
                                           json_response(200, "[1,2]"),
                                           json_response(200, "null"),
                                           json_response(200, std::string(1000, '[')),
                                           json_response(301, "", {{"Location", "https://evil.example/x?key=1"}}),
                                           json_response(307, ""),
                                           json_response(304, ""));
  CAPTURE(response.status, response.body);
  const Verdict verdict = read("me.get", response);
  CHECK(verdict.ending == Ending::unusable);
  CHECK(verdict.failure.kind == Failure::Kind::internal);
  CHECK(verdict.failure.call.http_status == response.status);
  CHECK(verdict.failure.what.find("key=1") == std::string::npos);
}

TEST_CASE("answer: bytes are whatever they are", "[client]") {
  const Verdict verdict = read("files.content", json_response(200, "\xff\0raw", {{"Content-Type", "text/html"}}));
  CHECK(verdict.ending == Ending::success);
  CHECK(verdict.reply.json.is_null());
}

TEST_CASE("answer: a Retry-After that is a date is counted from the service's clock", "[client]") {
  const http::Headers headers = {{"Date", "Fri, 20 Nov 2026 12:00:00 GMT"},
                                 {"Retry-After", "Fri, 20 Nov 2026 12:00:07 GMT"}};
  // The clock here is at 1970.
  CHECK(read("docs.list", json_response(429, "{}", headers)).retry_after == std::chrono::seconds{7});
}

TEST_CASE("answer: every refusal has its column, with what the body says", "[client]") {
  const auto ending = [](int status, std::string_view body, http::Headers headers = {}) {
    return read("docs.create", json_response(status, body, headers)).ending;
  };
  CHECK(ending(400, "{}") == Ending::refused);
  CHECK(ending(401, "{}") == Ending::refused);
  CHECK(ending(408, "") == Ending::server_error);
  CHECK(ending(409, R"({"code":"idempotency_in_flight"})") == Ending::in_flight);
  CHECK(ending(409, R"({"code":"archived"})") == Ending::refused);
  CHECK(ending(429, "{}") == Ending::rate_limited);
  CHECK(ending(500, "") == Ending::server_error);
  CHECK(ending(501, "") == Ending::server_error);
  CHECK(ending(503, "") == Ending::server_error);
  CHECK(ending(503, "", {{"Retry-After", "nonsense"}}) == Ending::server_error);
  CHECK(ending(503, "", {{"Retry-After", "2"}}) == Ending::unavailable);

  const Verdict verdict =
      read("docs.get",
           json_response(404, R"({"detail":"No such document.","code":"not_found"})", {{"X-Request-Id", "r-1"}}));
  CHECK(verdict.failure.kind == Failure::Kind::not_found);
  CHECK(verdict.failure.code == "not_found");
  CHECK(verdict.failure.request_id == "r-1");
  CHECK(verdict.failure.call.http_status == 404);
  CHECK(verdict.failure.call.details == R"({"detail":"No such document.","code":"not_found"})");
  CHECK(verdict.failure.what.find("No such document") != std::string::npos);
}

TEST_CASE("answer: a commit refused as a conflict keeps its whole body and says that a part was applied", "[client]") {
  Json body{
      {"detail", "2 conflicts"}, {"code", "sync_conflict"}, {"applied", Json::array()}, {"conflicts", Json::array()}};
  CHECK(read("sync.commit", json_response(409, body.dump())).failure.call.applied == Applied::no);
  for (int i = 0; i < 10'000; ++i) {
    body["applied"].push_back({{"path", "notes/" + std::string(100, 'x')}, {"document_id", i}});
  }
  const Verdict verdict = read("sync.commit", json_response(409, body.dump()));
  CHECK(verdict.ending == Ending::refused);
  CHECK(verdict.failure.kind == Failure::Kind::conflict);
  CHECK(verdict.failure.code == "sync_conflict");
  CHECK(verdict.failure.call.applied == Applied::yes);
  CHECK(verdict.failure.call.details == body.dump());
  const Json wrapped = {{"detail", {{"code", "sync_conflict"}, {"applied", {1}}}}};
  CHECK(read("sync.commit", json_response(409, wrapped.dump())).failure.call.applied == Applied::yes);
}

TEST_CASE("answer: every transport error has its column", "[client]") {
  using Stage = TransportError::Stage;
  const auto ending = [](Stage stage) { return read("docs.create", transport_error(stage)).ending; };
  CHECK(ending(Stage::nothing_sent) == Ending::nothing_sent);
  CHECK(ending(Stage::tls) == Ending::tls);
  CHECK(ending(Stage::no_answer) == Ending::no_answer);
  CHECK(ending(Stage::too_large) == Ending::unusable);
  CHECK(ending(Stage::unusable) == Ending::unusable);
  CHECK(ending(Stage::cancelled) == Ending::cancelled);
  CHECK(read("docs.create", transport_error(Stage::sink)).local);
}

TEST_CASE("answer: every operation that may end unknown names a command that checks", "[client]") {
  for (const contract::Operation* const operation : contract::operations()) {
    CAPTURE(operation->id);
    CHECK(hint_for_unknown(*operation, {}, "").find("`ws ") != std::string::npos);
  }
  const auto hint = [](std::string_view id) { return hint_for_unknown(*contract::find_operation(id), {}, ""); };
  CHECK(hint("docs.update") == "check with `ws docs get DOCUMENT` before you send it again");
  CHECK(hint("docs.share") ==
        "ask those it is for whether their `ws docs list` shows it (the API lists no shares) before you send it again");
  CHECK(hint_for_unknown(*contract::find_operation("comments.add"), {{"document_id", "d1"}}, "") ==
        "check with `ws comments list d1` before you send it again");
  CHECK(hint("files.upload_start") == "run `ws files upload` again: an unused upload expires by itself");
  CHECK(hint("agents.rotate") == "run `ws agents rotate AGENT` again: only the newest secret is valid");
  CHECK(hint("auth.start") == "run `ws auth login` again: a login that nobody approves expires by itself");
  CHECK(hint("events.claim") == "run `ws events claim` again: an unused lease expires by itself");
  CHECK(hint("auth.revoke") == "check with `ws whoami` before you send it again");
  CHECK(hint_for_unknown(*contract::find_operation("events.complete"), {{"event_id", "e1"}}, "") ==
        "check with `ws events renew e1` before you send it again");
  CHECK(hint("sync.commit") == "check with `ws sync status` before you send it again");
  CHECK(hint_for_unknown(*contract::find_operation("docs.create"), {}, "k1") ==
        "check with `ws docs list`, or repeat it with `--idempotency-key k1`: it cannot happen twice");
}
