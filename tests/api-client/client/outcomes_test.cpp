// How calls of every class end: the last column of the retry table as a caller sees it, and the refusals that are
// successes.
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "tests/support/client_world.hpp"

using namespace ws;
using namespace ws::test;
using http::TransportError;
using Kind = Failure::Kind;
using Stage = TransportError::Stage;
using std::chrono::seconds;

namespace {

struct Ended {
  std::size_t sends;
  Kind kind;
  Applied applied;
  bool retryable;
  bool operator==(const Ended&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Ended& ended) {
  return out << ended.sends << " sends, " << name(ended.kind) << ", applied " << name(ended.applied) << ", retryable "
             << ended.retryable;
}

const Call read_call{.operation = "me.get"};
const Call keyed_call{.operation = "docs.create", .body = Json{{"title", "T"}, {"content", "text"}}};
const Call revision_call{.operation = "docs.update",
                         .parameters = {{"document_id", some_id}},
                         .body = Json{{"content", "new"}, {"expected_content_revision", 3}}};
const Call archive_call{.operation = "docs.archive", .parameters = {{"document_id", some_id}}};
const Call unsafe_call{.operation = "docs.share",
                       .parameters = {{"document_id", some_id}},
                       .body = Json{{"email", "a@example.org"}, {"permission", "read"}}};
const Call lease_call{.operation = "events.renew",
                      .parameters = {{"event_id", some_id}},
                      .body = Json{{"lease_token", std::string(20, 'l')}},
                      .lease_left = seconds{60}};

Ended end_of(const Call& call, std::vector<http::Outcome> outcomes) {
  ClientWorld world(ClientWorld::in_turn(std::move(outcomes)));
  const auto reply = world.client.call(call);
  REQUIRE_FALSE(reply);
  const Failure& failure = reply.error();
  CHECK(failure.call.operation == call.operation);
  if (failure.call.applied == Applied::unknown) CHECK(failure.hint.find("`ws ") != std::string::npos);
  return {world.sends(), failure.kind, failure.call.applied, failure.call.retryable};
}

}  // namespace

TEST_CASE("outcomes: each class ends as the table says", "[client]") {
  const http::Outcome unsent = transport_error(Stage::nothing_sent);
  const http::Outcome unanswered = transport_error(Stage::no_answer);
  const http::Outcome handshake = transport_error(Stage::tls);
  const http::Outcome page = json_response(200, "<html>", {{"Content-Type", "text/html"}});
  const http::Outcome error = json_response(500, "{}");

  CHECK(end_of(read_call, {unsent}) == Ended{3, Kind::unreachable, Applied::no, true});
  CHECK(end_of(read_call, {unanswered}) == Ended{3, Kind::unreachable, Applied::no, true});
  CHECK(end_of(read_call, {error}) == Ended{3, Kind::service, Applied::no, true});
  CHECK(end_of(read_call, {page}) == Ended{1, Kind::internal, Applied::no, false});
  CHECK(end_of(read_call, {handshake}) == Ended{1, Kind::unreachable, Applied::no, false});
  CHECK(end_of(read_call, {json_response(404, "{}")}) == Ended{1, Kind::not_found, Applied::no, false});

  CHECK(end_of(keyed_call, {unsent}) == Ended{3, Kind::unreachable, Applied::no, true});
  CHECK(end_of(keyed_call, {unanswered}) == Ended{3, Kind::unknown_outcome, Applied::unknown, true});
  CHECK(end_of(keyed_call, {error}) == Ended{3, Kind::service, Applied::unknown, true});
  CHECK(end_of(keyed_call, {page}) == Ended{1, Kind::unknown_outcome, Applied::unknown, false});
  CHECK(end_of(keyed_call, {json_response(422, R"({"detail":[]})")}) == Ended{1, Kind::invalid, Applied::no, false});
  CHECK(end_of(keyed_call, {json_response(409, R"({"code":"idempotency_in_flight"})", {{"Retry-After", "1"}})}) ==
        Ended{3, Kind::conflict, Applied::unknown, true});

  CHECK(end_of(unsafe_call, {unsent}) == Ended{3, Kind::unreachable, Applied::no, true});
  CHECK(end_of(unsafe_call, {unanswered}) == Ended{1, Kind::unknown_outcome, Applied::unknown, false});
  CHECK(end_of(unsafe_call, {error}) == Ended{1, Kind::service, Applied::unknown, false});
  CHECK(end_of(unsafe_call, {json_response(503, "", {{"Retry-After", "1"}})}) ==
        Ended{3, Kind::service, Applied::no, true});
  CHECK(end_of(unsafe_call, {json_response(429, "")}) == Ended{3, Kind::rate_limited, Applied::no, true});

  CHECK(end_of(archive_call, {unanswered}) == Ended{3, Kind::unknown_outcome, Applied::unknown, true});
  CHECK(end_of(revision_call, {error}) == Ended{3, Kind::service, Applied::unknown, true});
  CHECK(end_of(revision_call, {json_response(409, "{}")}) == Ended{1, Kind::conflict, Applied::no, false});
}

TEST_CASE("outcomes: after a send in doubt nothing ends as not applied", "[client]") {
  const http::Outcome unanswered = transport_error(Stage::no_answer);
  CHECK(end_of(keyed_call, {unanswered, transport_error(Stage::nothing_sent)}) ==
        Ended{3, Kind::unknown_outcome, Applied::unknown, true});
  CHECK(end_of(keyed_call, {unanswered, json_response(401, "{}")}) == Ended{2, Kind::auth, Applied::unknown, false});
  CHECK(end_of(keyed_call, {unanswered, json_response(429, "{}")}) ==
        Ended{3, Kind::rate_limited, Applied::unknown, true});
}

TEST_CASE("outcomes: a lease is renewed until it ends", "[client]") {
  const Ended ended = end_of(lease_call, {transport_error(Stage::no_answer)});
  CHECK(ended.sends > 8);
  CHECK(ended.sends < 60);
  CHECK(ended.kind == Kind::unknown_outcome);
}

TEST_CASE("outcomes: not found after an unanswered archive is success", "[client]") {
  ClientWorld world(
      ClientWorld::in_turn({transport_error(Stage::no_answer), json_response(404, R"({"code":"not_found"})")}));
  const auto reply = world.client.call(archive_call);
  REQUIRE(reply);
  CHECK(reply->status == 404);
  CHECK(*reply->json == Json{{"id", some_id}, {"object", "document"}, {"status", "archived"}});
  CHECK(reply->body == dump(*reply->json));
  CHECK(reply->concluded);
  CHECK(reply->after_unanswered_send);
  ClientWorld gone(ClientWorld::in_turn({transport_error(Stage::no_answer), json_response(410, "")}));
  CHECK(gone.client.call(archive_call)->body == reply->body);
  CHECK(end_of(archive_call, {json_response(404, "{}")}) == Ended{1, Kind::not_found, Applied::no, false});
  CHECK(end_of(archive_call, {transport_error(Stage::no_answer), json_response(403, "{}")}).kind == Kind::forbidden);
  // An answer of 500 is an answer: the document may never have been there.
  CHECK(end_of(archive_call, {json_response(500, ""), json_response(404, "{}")}).kind == Kind::not_found);
}

TEST_CASE("outcomes: unauthorized after an unanswered logout is success", "[client]") {
  const Call logout{.operation = "auth.revoke"};
  ClientWorld world(ClientWorld::in_turn({transport_error(Stage::no_answer), json_response(401, "{}")}));
  const auto reply = world.client.call(logout);
  REQUIRE(reply);
  CHECK(reply->concluded);
  CHECK(reply->body == R"({"ok":true})");
  CHECK(end_of(logout, {json_response(401, "{}")}).kind == Kind::auth);
}

TEST_CASE("outcomes: a mismatch after an unanswered update is success if our text is there", "[client]") {
  const int mismatch = GENERATE(409, 412);
  ClientWorld world(ClientWorld::in_turn({transport_error(Stage::no_answer),
                                          json_response(mismatch, R"({"code":"revision_conflict"})"),
                                          json_response(200, R"({"content":"new","content_revision":4})")}));
  const auto reply = world.client.call(revision_call);
  REQUIRE(reply);
  CHECK(reply->concluded);
  CHECK(find_integer(*reply->json, "content_revision") == 4);
  REQUIRE(world.sends() == 3);
  CHECK(world.transport.requests()[2].method == "GET");
}

TEST_CASE("outcomes: a mismatch after an unanswered update stays a conflict if another text is there", "[client]") {
  const http::Outcome unanswered = transport_error(Stage::no_answer);
  const http::Outcome mismatch = json_response(409, R"({"code":"revision_conflict","current_content_revision":5})");
  CHECK(end_of(revision_call, {unanswered, mismatch, json_response(200, R"({"content":"theirs"})")}) ==
        Ended{3, Kind::conflict, Applied::unknown, false});
  CHECK(end_of(revision_call, {unanswered, mismatch, json_response(200, "{}")}).kind == Kind::conflict);
  CHECK(end_of(revision_call, {unanswered, mismatch, json_response(404, "{}")}).kind == Kind::unknown_outcome);
}

TEST_CASE("outcomes: a mismatch is explained only by what was compared, all of it", "[client]") {
  const http::Outcome unanswered = transport_error(Stage::no_answer);
  const http::Outcome mismatch = json_response(409, R"({"code":"revision_conflict"})");
  const auto concludes = [&](Json body, std::string_view there) {
    Call update = revision_call;
    body["expected_content_revision"] = 3;
    update.body = std::move(body);
    update.validate = false;
    ClientWorld world(ClientWorld::in_turn({unanswered, mismatch, json_response(200, there)}));
    return world.client.call(update).has_value();
  };
  const std::string_view there = R"({"title":"T","content":"new"})";
  CHECK(concludes(Json{{"title", "T"}, {"content", "new"}}, there));
  CHECK(concludes(Json{{"title", nullptr}, {"content", "new"}}, there));
  CHECK_FALSE(concludes(Json::object(), there));
  CHECK_FALSE(concludes(Json{{"title", nullptr}}, there));
  CHECK_FALSE(concludes(Json{{"title", "T"}, {"parent_node_id", some_id}}, there));
  CHECK_FALSE(concludes(Json{{"title", "T"}}, R"({"content":"new"})"));
}

TEST_CASE("outcomes: where what is there cannot be read, nobody knows, and no refusal is told", "[client]") {
  ClientWorld world(ClientWorld::in_turn({transport_error(Stage::no_answer),
                                          json_response(409, R"({"code":"revision_conflict"})"),
                                          transport_error(Stage::no_answer)}));
  const auto reply = world.client.call(revision_call);
  REQUIRE_FALSE(reply);
  CHECK(reply.error().kind == Kind::unknown_outcome);
  CHECK(reply.error().code.empty());
  CHECK(reply.error().call.http_status == 0);
  CHECK(reply.error().call.details.empty());
  CHECK(reply.error().hint.find("`ws docs get ") != std::string::npos);
}

TEST_CASE("outcomes: an event that is finished already after an unanswered close is closed", "[client]") {
  const std::string operation = GENERATE("events.complete", "events.fail");
  const Call close{.operation = operation,
                   .parameters = {{"event_id", some_id}},
                   .body = Json{{"lease_token", std::string(20, 'l')}},
                   .validate = false};
  const http::Outcome finished = json_response(409, R"({"detail":"no","code":"already_finished"})");
  ClientWorld world(ClientWorld::in_turn({transport_error(Stage::no_answer), finished}));
  const auto reply = world.client.call(close);
  REQUIRE(reply);
  CHECK(reply->concluded);
  CHECK(find_text(*reply->json, "id") == some_id);
  CHECK(find(*reply->json, "detail") == nullptr);
  CHECK(end_of(close, {finished}).kind == Kind::conflict);
  // After a `fail` that arrived, and after a lease that expired, the service answers the same.
  const http::Outcome lost = json_response(409, R"({"code":"lease_lost"})");
  CHECK(end_of(close, {transport_error(Stage::no_answer), lost}).kind ==
        (operation == "events.fail" ? Kind::unknown_outcome : Kind::conflict));
  CHECK(end_of(close, {lost}).kind == Kind::conflict);
}

TEST_CASE("outcomes: any request is concluded and advised as the operation that it names", "[client]") {
  const std::string path = std::string("/v1/documents/") + some_id;
  ClientWorld archived(ClientWorld::in_turn({transport_error(Stage::no_answer), json_response(404, "{}")}));
  const auto reply = archived.client.call(AnyCall{.method = "DELETE", .path = path});
  REQUIRE(reply);
  CHECK(find_text(*reply->json, "id") == some_id);
  ClientWorld updated(ClientWorld::in_turn(
      {transport_error(Stage::no_answer), json_response(412, "{}"), json_response(200, R"({"content":"new"})")}));
  CHECK(updated.client.call(AnyCall{.method = "PUT", .path = path, .body = dump(*revision_call.body)}));
  ClientWorld added(ClientWorld::in_turn({transport_error(Stage::no_answer)}));
  const auto lost = added.client.call(AnyCall{.method = "POST", .path = path + "/comments", .body = "{}"});
  REQUIRE_FALSE(lost);
  CHECK(lost.error().call.operation == "api");
  CHECK(lost.error().hint == std::string("check with `ws comments list ") + some_id + "` before you send it again");
}

TEST_CASE("outcomes: a conflict that is resolved already is success if it is resolved as we wanted", "[client]") {
  const Call resolve{.operation = "sync.conflict_resolve",
                     .parameters = {{"conflict_id", some_id}},
                     .body = Json{{"resolution", "merged"}, {"content", "both"}, {"expected_content_revision", 3}}};
  const http::Outcome unanswered = transport_error(Stage::no_answer);
  const http::Outcome resolved = json_response(409, R"({"code":"conflict_resolved"})");
  const auto there = [](std::string_view resolution, std::string_view content) {
    return json_response(200,
                         dump(Json{{"status", "resolved"},
                                   {"resolution", resolution},
                                   {"result", {{"content_sha256", Sha256::of(content).hex()}}}}));
  };
  ClientWorld world(ClientWorld::in_turn({unanswered, resolved, there("merged", "both")}));
  REQUIRE(world.client.call(resolve));
  CHECK(end_of(resolve, {unanswered, resolved, there("merged", "else")}).kind == Kind::conflict);
  CHECK(end_of(resolve, {unanswered, resolved, there("keep_local", "both")}).kind == Kind::conflict);
}

TEST_CASE("outcomes: an unanswered commit is repeated as it is", "[client]") {
  const Call commit{.operation = "sync.commit",
                    .body = Json{{"source_id", some_id},
                                 {"plan_id", some_id},
                                 {"push_ids", Json::array({some_id})},
                                 {"expected_revision", 1},
                                 {"client_id", "c"}}};
  ClientWorld world(ClientWorld::in_turn({transport_error(Stage::no_answer), json_response(200, R"({"revision":2})")}));
  REQUIRE(world.client.call(commit));
  REQUIRE(world.sends() == 2);
  CHECK(world.transport.requests()[0].body == world.transport.requests()[1].body);
}
