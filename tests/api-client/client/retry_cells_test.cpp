// Every cell of the retry table of `cli.md` over real sockets: a client, libcurl, and a server that does what the
// column says. The cells as pure decisions are in http/retry_test.
#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/client/client.hpp"
#include "api-client/http/curl.hpp"
#include "tests/support/hostile_server.hpp"
#include "tests/support/no_jitter.hpp"

using namespace ws;
using namespace ws::test;
using Kind = Failure::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr const char* id = "01936b2e-7d6a-7c3e-8a4b-1f2e3d4c5b6a";
constexpr const char* secret = "wsk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

/// Repeats come at once.
struct World {
  explicit World(const std::string& base_url, http::RetryBudget budget = {}) {
    auto made = http::make_curl_transport();
    REQUIRE(made);
    transport = std::move(*made);
    client = std::make_unique<Client>(*transport,
                                      clock,
                                      random,
                                      ClientOptions{.base_url = base_url,
                                                    .credential = Credential{secret, http::origin_of(base_url)},
                                                    .budget = budget,
                                                    .timeout = seconds{10}});
  }
  SystemClock clock;
  NoJitter random;
  std::unique_ptr<http::Transport> transport;
  std::unique_ptr<Client> client;
};

/// A row of the table by an operation of its class.
struct Row {
  char name;
  Call call;
};
const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {'R', {.operation = "me.get"}},
      {'K', {.operation = "docs.create", .body = Json{{"title", "T"}, {"content", "x"}}}},
      {'P',
       {.operation = "docs.update",
        .parameters = {{"document_id", id}},
        .body = Json{{"content", "x"}, {"expected_content_revision", 3}}}},
      {'S', {.operation = "sync.push", .body = Json{{"source_id", id}, {"plan_id", id}, {"items", Json::array()}}}},
      {'D', {.operation = "docs.archive", .parameters = {{"document_id", id}}}},
      {'L',
       {.operation = "events.renew",
        .parameters = {{"event_id", id}},
        .body = Json{{"lease_token", std::string(20, 'l')}}}},
      {'N',
       {.operation = "docs.share",
        .parameters = {{"document_id", id}},
        .body = Json{{"email", "a@example.org"}, {"permission", "read"}}}},
  };
  return all;
}

/// A column: what the server does, how often it may be asked, and how each class ends.
struct CellEnd {
  int sends;
  Kind kind;
  Applied applied;
  bool retryable;
  bool operator==(const CellEnd&) const = default;
};
std::ostream& operator<<(std::ostream& out, const CellEnd& ended) {
  return out << ended.sends << " sends, " << name(ended.kind) << ", applied " << name(ended.applied) << ", retryable "
             << ended.retryable;
}

struct Column {
  std::string name;
  Script script;
  CellEnd read;     ///< R
  CellEnd guarded;  ///< K, P, S, D, L
  CellEnd unsafe;   ///< N
};

const std::vector<Column>& columns() {
  const CellEnd unreachable{3, Kind::unreachable, Applied::no, true};
  const CellEnd limited{3, Kind::rate_limited, Applied::no, true};
  const CellEnd busy{3, Kind::service, Applied::no, true};
  const CellEnd unusable{1, Kind::internal, Applied::no, false};
  const CellEnd doubt{3, Kind::unknown_outcome, Applied::unknown, true};
  const CellEnd one_doubt{1, Kind::unknown_outcome, Applied::unknown, false};
  const CellEnd failed{3, Kind::service, Applied::unknown, true};
  const CellEnd one_failed{1, Kind::service, Applied::unknown, false};
  const std::string cut = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"a\":";
  const std::string too_long = R"({"a":")" + std::string(std::size_t{33} << 20U, 'x') + R"("})";
  static const std::vector<Column> all = {
      {"closed without an answer", {CloseConnection{}}, unreachable, doubt, one_doubt},
      {"reset", {ResetConnection{}}, unreachable, doubt, one_doubt},
      {"cut in the middle", {SendBytes{cut}, CloseConnection{}}, unreachable, doubt, one_doubt},
      {"408", answer(408, "{}"), busy, failed, one_failed},
      {"500", answer(500, "{}"), busy, failed, one_failed},
      {"502 of a proxy", answer(502, "<html>", {{"Content-Type", "text/html"}}), busy, failed, one_failed},
      {"503 without Retry-After", answer(503, "{}"), busy, failed, one_failed},
      {"503 with Retry-After", answer(503, "{}", {{"Retry-After", "0"}}), busy, busy, busy},
      {"429", answer(429, "{}"), limited, limited, limited},
      {"429 with Retry-After", answer(429, "{}", {{"Retry-After", "0"}}), limited, limited, limited},
      {"a page", answer(200, "<html>", {{"Content-Type", "text/html"}}), unusable, one_doubt, one_doubt},
      {"no JSON", answer(200, "{"), unusable, one_doubt, one_doubt},
      {"bytes", answer(200, "{}", {{"Content-Type", "application/octet-stream"}}), unusable, one_doubt, one_doubt},
      {"65 levels",
       answer(200, R"({"a":)" + std::string(64, '[') + std::string(64, ']') + "}"),
       unusable,
       one_doubt,
       one_doubt},
      {"over 32 MiB", answer(200, too_long), unusable, one_doubt, one_doubt},
      {"nothing where an object was promised", answer(204, ""), unusable, one_doubt, one_doubt},
      {"a list for an object", answer(200, "[]"), unusable, one_doubt, one_doubt},
      {"a redirect", answer(307, "", {{"Location", "/v1/elsewhere"}}), unusable, one_doubt, one_doubt},
      {"no HTTP", {SendBytes{"hello\r\n"}, CloseConnection{}}, unusable, one_doubt, one_doubt},
  };
  return all;
}

CellEnd end_of(World& world, const Call& call, int sends_seen = -1) {
  const auto reply = world.client->call(call);
  REQUIRE_FALSE(reply);
  const Failure& failure = reply.error();
  CHECK(failure.what.find(secret) == std::string::npos);
  if (failure.call.applied == Applied::unknown) CHECK(failure.hint.find("`ws ") != std::string::npos);
  return {sends_seen, failure.kind, failure.call.applied, failure.call.retryable};
}

}  // namespace

TEST_CASE("retry cells: every class against every answer", "[client]") {
  for (const Column& column : columns()) {
    for (const Row& row : rows()) {
      CAPTURE(column.name, row.name);
      const HostileServer server([&](const Seen&) { return column.script; });
      World world(server.origin());
      CellEnd ended = end_of(world, row.call);
      ended.sends = static_cast<int>(server.requests().size());
      CHECK(ended == (row.name == 'R' ? column.read : row.name == 'N' ? column.unsafe : column.guarded));
    }
  }
}

TEST_CASE("retry cells: where nothing listens every class tries three times, and nothing was applied", "[client]") {
  for (const Row& row : rows()) {
    CAPTURE(row.name);
    World world("http://127.0.0.1:" + std::to_string(closed_port()));
    CHECK(end_of(world, row.call) == CellEnd{-1, Kind::unreachable, Applied::no, true});
    CHECK(world.client->budget().retries_left == (row.name == 'L' ? 10 : 8));  // a lease does not use it up
  }
}

TEST_CASE("retry cells: a lease is held on to until it ends, whatever the budget says", "[client]") {
  const HostileServer server([](const Seen&) { return Script{Pause{milliseconds{20}}, CloseConnection{}}; });
  World world(server.origin(), {.retries_left = 0});
  Call call = rows()[5].call;
  call.lease_left = seconds{2};
  const auto began = std::chrono::steady_clock::now();
  CHECK(end_of(world, call) == CellEnd{-1, Kind::unknown_outcome, Applied::unknown, true});
  CHECK(std::chrono::steady_clock::now() - began >= milliseconds{1500});
  CHECK(server.requests().size() > 3);
}

TEST_CASE("retry cells: Retry-After is waited for, in seconds and as a date", "[client]") {
  int asked = 0;
  std::string value = "3";
  const HostileServer server([&](const Seen&) {
    return ++asked % 2 == 1 ? answer(503, "{}", {{"Retry-After", value}}) : answer(200, "{}");
  });
  World world(server.origin());
  const auto took = [&] {
    const auto began = std::chrono::steady_clock::now();
    REQUIRE(world.client->call(rows()[0].call));
    return std::chrono::steady_clock::now() - began;
  };
  CHECK(took() >= milliseconds{2990});
  for (const char* past : {"Sun, 06 Nov 1994 08:49:37 GMT", "-5", "0"}) {
    value = past;
    CHECK(took() < seconds{3});
  }
}

TEST_CASE("retry cells: a Retry-After beyond the patience ends the call at once and is passed on", "[client]") {
  const int status = GENERATE(429, 503);
  const HostileServer server([&](const Seen&) { return answer(status, "{}", {{"Retry-After", "90"}}); });
  for (const Row& row : rows()) {
    World world(server.origin());
    const auto reply = world.client->call(row.call);
    REQUIRE_FALSE(reply);
    CHECK(reply.error().kind == (status == 429 ? Kind::rate_limited : Kind::service));
    CHECK(reply.error().call.retry_after == seconds{90});
    CHECK(reply.error().call.applied == Applied::no);
  }
  CHECK(server.requests().size() == rows().size());
}

TEST_CASE("retry cells: ten repeats a command, however many calls it makes", "[client]") {
  const HostileServer server([](const Seen&) { return answer(500, "{}"); });
  World world(server.origin());
  for (int i = 0; i < 7; ++i) CHECK_FALSE(world.client->call(rows()[0].call));
  CHECK(server.requests().size() == 7 + 10);
  CHECK(world.client->budget().retries_left == 0);
  world.client->start_afresh();
  CHECK(world.client->budget().retries_left == 10);
}

TEST_CASE("retry cells: an unsafe call on a used connection that closes is sent once", "[client]") {
  const HostileServer server(
      [](const Seen& seen) { return seen.method == "GET" ? answer(200, "{}") : Script{CloseConnection{}}; });
  World world(server.origin());
  for (const Row& row : rows()) {
    if (row.name == 'R') continue;
    REQUIRE(world.client->call(rows()[0].call));
    const std::size_t before = server.requests().size();
    CHECK_FALSE(world.client->call(row.call));
    CHECK(server.requests().size() - before == (row.name == 'N' ? 1U : 3U));
  }
}

TEST_CASE("retry cells: no redirect is followed, and no key goes along", "[client]") {
  const HostileServer other([](const Seen&) { return answer(200, "{}"); });
  const int status = GENERATE(301, 302, 303, 307, 308);
  const HostileServer server([&](const Seen&) { return answer(status, "", {{"Location", other.url("/v1/me")}}); });
  for (const Row& row : rows()) {
    World world(server.origin());
    CHECK_FALSE(world.client->call(row.call));
  }
  CHECK(other.connections() == 0);
}

TEST_CASE("retry cells: the key of a create is the same in all its sends, and no other call has one", "[client]") {
  const HostileServer server([](const Seen&) { return answer(500, "{}"); });
  for (const Row& row : rows()) {
    World world(server.origin());
    CHECK_FALSE(world.client->call(row.call));
  }
  std::vector<std::string> keys;
  for (const Seen& seen : server.requests()) {
    const auto key = seen.header("Idempotency-Key");
    const bool is_create = seen.method == "POST" && seen.target == "/v1/documents";
    CHECK(key.has_value() == is_create);
    if (key) keys.push_back(*key);
  }
  REQUIRE(keys.size() == 3);
  CHECK(keys[0] == keys[1]);
  CHECK(keys[1] == keys[2]);
}
