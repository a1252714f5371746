#include "api-client/client/client.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/uuid.hpp"
#include "api-client/client/page_guard.hpp"
#include "api-client/http/curl.hpp"
#include "tests/support/client_world.hpp"
#include "tests/support/hostile_server.hpp"

using namespace ws;
using namespace ws::test;
using http::TransportError;
using Stage = TransportError::Stage;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Call create_call() { return {.operation = "docs.create", .body = Json{{"title", "T"}, {"content", "text"}}}; }

/// Keeps every exchange pending, also after the client is gone.
class PendingTransport final : public http::Transport {
 public:
  void start(http::Request request, std::function<void(http::Outcome)> done) override {
    exchanges.emplace_back(std::move(request), std::move(done));
  }
  void run(milliseconds) override {}
  std::size_t under_way() const override { return exchanges.size(); }
  void cancel_all() override { exchanges.clear(); }

  std::vector<std::pair<http::Request, std::function<void(http::Outcome)>>> exchanges = {};
  int sources = 0;  ///< `CountedSource`s that exist
};

class CountedSource final : public http::BodySource {
 public:
  explicit CountedSource(int& count) : count_(count) { ++count_; }
  ~CountedSource() override { --count_; }
  std::uint64_t size_bytes() const override { return 0; }
  Result<std::size_t> read(char*, std::size_t) override { return std::size_t{0}; }

 private:
  int& count_;
};

std::string key_of(const http::Request& request) {
  return std::string(http::find_header(request.headers, "Idempotency-Key").value_or(""));
}

}  // namespace

TEST_CASE("client: a call answers with the bytes, the JSON and the headers as they came", "[client]") {
  ClientWorld world([](const http::Request&) {
    return json_response(200, R"({"z":1,"a":2})", {{"X-Request-Id", "r"}});
  });
  const auto reply = world.client.call({.operation = "me.get"});
  REQUIRE(reply);
  CHECK(reply->status == 200);
  CHECK(reply->body == R"({"z":1,"a":2})");
  CHECK(dump(*reply->json) == R"({"z":1,"a":2})");
  CHECK(reply->sends == 1);
  CHECK_FALSE(reply->after_unanswered_send);
  CHECK(http::find_header(world.transport.requests()[0].headers, "Authorization") ==
        std::string("Bearer ") + secret_key);
}

TEST_CASE("client: all repeats of a call carry one key, and another call another", "[client]") {
  ClientWorld world(
      ClientWorld::in_turn({transport_error(Stage::no_answer), json_response(500, ""), json_response(201, "{}")}));
  const auto reply = world.client.call(create_call());
  REQUIRE(reply);
  CHECK(reply->sends == 3);
  CHECK(reply->after_unanswered_send);
  REQUIRE(world.sends() == 3);
  const std::string key = key_of(world.transport.requests()[0]);
  CHECK(is_uuid(key));
  CHECK(key == reply->idempotency_key);
  CHECK(key == key_of(world.transport.requests()[1]));
  CHECK(key == key_of(world.transport.requests()[2]));
  CHECK(world.transport.requests()[0].body == world.transport.requests()[2].body);
  REQUIRE(world.client.call(create_call()));
  CHECK(key != key_of(world.transport.requests()[3]));
}

TEST_CASE("client: a repeat waits, and never less than the service asks", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(429, "{}", {{"Retry-After", "7"}}),
                                          json_response(503, "", {{"Retry-After", "3"}}),
                                          json_response(200, "{}")}));
  REQUIRE(world.client.call({.operation = "me.get"}));
  REQUIRE(world.sends() == 3);
  CHECK(world.transport.times()[1] - world.transport.times()[0] == seconds{7});
  CHECK(world.transport.times()[2] - world.transport.times()[1] == seconds{3});
}

TEST_CASE("client: a wait that is too long ends the call and says how long it would be", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(429, "{}", {{"Retry-After", "3600"}})}));
  const auto reply = world.client.call({.operation = "me.get"});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().kind == Failure::Kind::rate_limited);
  CHECK(reply.error().call.retry_after == seconds{3600});
  CHECK(reply.error().call.retryable);
  CHECK(world.sends() == 1);
}

TEST_CASE("client: a waiting call holds up no other", "[client]") {
  ClientWorld world([](const http::Request& request) -> std::optional<http::Outcome> {
    if (request.url.find("/v1/me") != std::string::npos) return json_response(503, "", {{"Retry-After", "30"}});
    return json_response(200, "{}");
  });
  std::vector<std::string> ended;
  world.client.start({.operation = "me.get"}, [&](const Result<Reply>&) { ended.emplace_back("me"); });
  world.client.start({.operation = "discovery.get"}, [&](const Result<Reply>&) { ended.emplace_back("discovery"); });
  CHECK(ended.empty());
  while (world.client.run(seconds{1})) {
  }
  CHECK(ended == std::vector<std::string>{"discovery", "me"});
}

TEST_CASE("client: the retries of all calls come out of one budget", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(500, "")}), {.budget = {.retries_left = 3}});
  CHECK_FALSE(world.client.call({.operation = "me.get"}));
  CHECK(world.sends() == 3);
  CHECK(world.client.budget().retries_left == 1);
  CHECK_FALSE(world.client.call({.operation = "me.get"}));
  CHECK(world.sends() == 5);
  CHECK_FALSE(world.client.call({.operation = "me.get"}));
  CHECK(world.sends() == 6);
}

TEST_CASE("client: without retries a call is one send", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(500, "")}), {.retry = false});
  CHECK_FALSE(world.client.call({.operation = "me.get"}));
  ClientWorld once(ClientWorld::in_turn({json_response(500, "")}));
  CHECK_FALSE(once.client.call({.operation = "me.get", .repeat = false}));
  CHECK(world.sends() + once.sends() == 2);
}

TEST_CASE("client: what is wrong with the call itself is told without sending, from run", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(200, "{}")}));
  bool ended = false;
  world.client.start({.operation = "docs.list", .parameters = {{"limit", "0"}}}, [&](const Result<Reply>& reply) {
    ended = true;
    CHECK(reply.error().kind == Failure::Kind::usage);
    CHECK(reply.error().call.applied == Applied::no);
  });
  CHECK_FALSE(ended);
  CHECK_FALSE(world.client.run(seconds{1}));
  CHECK(ended);
  CHECK(world.sends() == 0);
}

TEST_CASE("client: without a key for the origin nothing is sent", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(200, "{}")}),
                    {.credential = Credential{secret_key, "https://other.example:443"}});
  const auto reply = world.client.call({.operation = "me.get"});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().kind == Failure::Kind::auth);
  CHECK(world.sends() == 0);
}

TEST_CASE("client: the request of a dry run is the one that would be sent, less the key", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(201, "{}")}));
  Call call = create_call();
  call.idempotency_key = "k-1";
  const auto dry = world.client.prepare(call);
  REQUIRE(dry);
  REQUIRE(world.client.call(call));
  http::Request sent = world.transport.requests()[0];
  CHECK(dry->url == sent.url);
  CHECK(dry->body == sent.body);
  CHECK_FALSE(http::find_header(dry->headers, "Authorization"));
  REQUIRE(sent.headers.back().first == "Authorization");
  sent.headers.pop_back();
  CHECK(dry->headers == sent.headers);
}

TEST_CASE("client: a key that the service echoes is in no text that anybody sees", "[client]") {
  const std::string echo = std::string(R"({"detail":"bad key )") + secret_key + R"(","code":")" + secret_key + R"("})";
  ClientWorld world(ClientWorld::in_turn({json_response(500, echo, {{"X-Request-Id", secret_key}})}));
  const auto reply = world.client.call({.operation = "me.get"});
  REQUIRE_FALSE(reply);
  const Failure& failure = reply.error();
  for (const std::string& text : {failure.what, failure.hint, failure.code, failure.request_id, failure.call.details}) {
    CHECK(text.find(secret_key) == std::string::npos);
  }
  CHECK_FALSE(world.trace.empty());
  for (const std::string& line : world.trace) CHECK(line.find(secret_key) == std::string::npos);
}

TEST_CASE("client: a streamed success is not repeated once the sink has a piece", "[client]") {
  int sends = 0;
  const auto cut = [&](const http::Request& request) -> std::optional<http::Outcome> {
    ++sends;
    CHECK(request.sink("half"));
    return transport_error(Stage::no_answer);
  };
  ClientWorld world(cut);
  std::string taken;
  const auto reply = world.client.call({.operation = "files.content",
                                        .parameters = {{"asset_id", some_id}},
                                        .sink = [&](std::string_view piece) -> Result<void> {
                                          taken += piece;
                                          return {};
                                        }});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().kind == Failure::Kind::unreachable);
  CHECK(sends == 1);
  CHECK(taken == "half");
}

TEST_CASE("client: a sink that fails ends the call with its reason", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(200, "bytes")}));
  const auto reply = world.client.call(
      {.operation = "files.content",
       .parameters = {{"asset_id", some_id}},
       .sink = [](std::string_view) -> Result<void> { return fail(Failure::Kind::disk, "no space left"); }});
  REQUIRE_FALSE(reply);
  CHECK(reply.error().kind == Failure::Kind::disk);
  CHECK(reply.error().what == "no space left");
  CHECK(reply.error().call.applied == Applied::no);
  CHECK(world.sends() == 1);
}

TEST_CASE("client: a signal ends what is under way and what waits, and says what is known of each", "[client]") {
  std::atomic<bool> cancelled = false;
  ClientWorld world(
      [](const http::Request& request) -> std::optional<http::Outcome> {
        if (request.url.find("/v1/me") != std::string::npos) return json_response(503, "", {{"Retry-After", "30"}});
        return std::nullopt;
      },
      {.cancelled = &cancelled});
  std::vector<Failure> ended;
  const auto keep = [&](const Result<Reply>& reply) { ended.push_back(reply.error()); };
  world.client.start({.operation = "me.get"}, keep);
  world.client.start(create_call(), keep);
  world.client.run(seconds{1});
  cancelled = true;
  while (world.client.run(seconds{1})) {
  }
  REQUIRE(ended.size() == 2);
  CHECK(ended[0].kind == Failure::Kind::cancelled);
  CHECK(ended[0].call.applied == Applied::unknown);
  CHECK(ended[0].call.operation == "docs.create");
  CHECK(ended[1].kind == Failure::Kind::cancelled);
  CHECK(ended[1].call.applied == Applied::no);
  CHECK_FALSE(world.client.call({.operation = "me.get"}));
}

TEST_CASE("client: going away with calls under way calls nobody", "[client]") {
  FakeClock clock;
  SeededRandom random{1};
  FakeTransport transport(clock, [](const http::Request&) { return std::optional<http::Outcome>(); });
  bool called = false;
  {
    Client client(transport, clock, random, {.base_url = base_url, .credential = Credential{secret_key, base_url}});
    client.start({.operation = "me.get"}, [&](const Result<Reply>&) { called = true; });
    client.run(seconds{1});
    CHECK(transport.under_way() == 1);
  }
  transport.cancel_all();
  CHECK_FALSE(called);
}

TEST_CASE("client: an exchange that outlives its client reaches neither the call's sink nor a freed body", "[client]") {
  FakeClock clock;
  SeededRandom random{1};
  PendingTransport transport;
  std::string received;
  {
    Client client(transport, clock, random, {.base_url = base_url, .credential = Credential{secret_key, base_url}});
    client.start({.operation = "files.content",
                  .parameters = {{"asset_id", some_id}},
                  .sink =
                      [&](std::string_view piece) {
                        received += piece;
                        return Result<void>();
                      }},
                 [&](const Result<Reply>&) { received += "done"; });
    client.start(BytesPut{.url = std::string(base_url) + "/uploads/x",
                          .open = [&]() -> Result<std::unique_ptr<http::BodySource>> {
                            return std::make_unique<CountedSource>(transport.sources);
                          }},
                 [&](const Result<Reply>&) { received += "done"; });
    client.run(milliseconds{0});
    REQUIRE(transport.exchanges.size() == 2);
    REQUIRE(transport.exchanges[0].first.sink("early"));
  }
  CHECK_FALSE(transport.exchanges[0].first.sink("late"));
  CHECK(transport.sources == 1);
  for (auto& [request, done] : transport.exchanges) done(TransportError{Stage::cancelled, {}});
  CHECK(received == "early");
  transport.exchanges.clear();
  CHECK(transport.sources == 0);
}

TEST_CASE("client: a `done` that runs the client again sends each waiting call once", "[client]") {
  const bool ends_there = GENERATE(true, false);
  CAPTURE(ends_there);
  ClientWorld world([&](const http::Request&) {
    return ends_there ? std::optional<http::Outcome>(json_response(200, "{}")) : std::nullopt;
  });
  int ended = 0;
  world.client.start(BytesPut{.url = std::string(base_url) + "/uploads/x",
                              .open = []() -> Result<std::unique_ptr<http::BodySource>> {
                                return fail(Failure::Kind::disk, "the file is gone");
                              }},
                     [&](const Result<Reply>&) { world.client.run(milliseconds{0}); });
  world.client.start({.operation = "me.get"}, [&](const Result<Reply>&) { ++ended; });
  world.client.run(milliseconds{0});
  CHECK(world.sends() == 1);
  CHECK(ended == (ends_there ? 1 : 0));
}

TEST_CASE("client: retries of leases and polls do not use up the budget of the other calls", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(503, "")}));
  const int before = world.client.budget().retries_left;
  CHECK_FALSE(world.client.call({.operation = "events.renew",
                                 .parameters = {{"event_id", some_id}},
                                 .body = Json{{"lease_token", std::string(20, 'l')}},
                                 .lease_left = seconds{20}}));
  const std::size_t of_lease = world.sends();
  CHECK(of_lease > 1);
  CHECK_FALSE(world.client.call({.operation = "auth.token", .body = Json{{"device_code", std::string(43, 'd')}}}));
  CHECK(world.sends() > of_lease + 1);
  CHECK(world.client.budget().retries_left == before);
}

TEST_CASE("client: a clock that is set back does not stretch a wait", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(503, "", {{"Retry-After", "30"}}), json_response(200, "{}")}));
  bool ended = false;
  world.client.start({.operation = "me.get"}, [&](const Result<Reply>& reply) { ended = reply.has_value(); });
  world.client.run(milliseconds{0});
  world.clock.advance(-std::chrono::hours{24});
  for (int i = 0; i < 3; ++i) world.client.run(seconds{1});
  CHECK(ended);
}

TEST_CASE("client: pages follow one another until there is none", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(200, R"({"data":[1,2],"next_cursor":"c1"})"),
                                          json_response(200, R"({"data":[],"next_cursor":2})"),
                                          json_response(200, R"({"data":[3],"next_cursor":null})")}));
  Json all = Json::array();
  const auto keep = [&](const Json& item) -> Result<bool> {
    all.push_back(item);
    return true;
  };
  REQUIRE(world.client.each_item({.operation = "docs.list", .parameters = {{"limit", "2"}}}, keep));
  CHECK(all == Json{1, 2, 3});
  REQUIRE(world.sends() == 3);
  CHECK(world.transport.requests()[1].url == "https://api.example.org/v1/documents?limit=2&cursor=c1");
  CHECK(world.transport.requests()[2].url == "https://api.example.org/v1/documents?limit=2&cursor=2");
}

TEST_CASE("client: a visitor may end the paging", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(200, R"({"data":[1,2],"next_cursor":"c1"})")}));
  int visited = 0;
  REQUIRE(world.client.each_item({.operation = "docs.list"}, [&](const Json&) -> Result<bool> {
    ++visited;
    return false;
  }));
  CHECK(visited == 1);
  CHECK(world.sends() == 1);
}

TEST_CASE("client: pages that lead nowhere are a failure", "[client]") {
  const auto code_of = [](std::vector<http::Outcome> pages) -> std::string {
    ClientWorld world(ClientWorld::in_turn(std::move(pages)));
    const auto ended =
        world.client.each_item({.operation = "docs.list"}, [](const Json&) -> Result<bool> { return true; });
    return ended ? "" : ended.error().code;
  };
  CHECK(code_of({json_response(200, R"({"data":[1],"next_cursor":"c1"})")}) == "cursor_repeated");
  CHECK(code_of({json_response(200, R"({"items":[]})")}) == "unusable_answer");
  CHECK(code_of({json_response(200, R"({"data":[1],"next_cursor":{}})")}) == "unusable_answer");
  int page = 0;
  ClientWorld world([&](const http::Request&) {
    return json_response(200, R"({"data":[],"next_cursor":"c)" + std::to_string(++page) + R"("})");
  });
  const auto ended =
      world.client.each_item({.operation = "docs.list"}, [](const Json&) -> Result<bool> { return true; });
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code == "endless_list");
}

TEST_CASE("client: a list without end ends at a number of pages, a joined one at items and bytes", "[client]") {
  PageGuard pages("docs.list");
  std::size_t followed = 0;
  Result<void> more;
  while (more && followed <= max_list_pages) more = pages.go_on("c" + std::to_string(++followed), 1);
  REQUIRE_FALSE(more);
  CHECK(more.error().code == "endless_list");
  CHECK(more.error().what.find("more than 100000 pages") != std::string::npos);
  CHECK(followed == max_list_pages);
  CHECK_FALSE(PageGuard("docs.list").go_on(std::string(max_cursor_bytes + 1, 'c'), 1));
  PageGuard items("docs.list");
  CHECK(items.keep(max_kept_items, 1));
  CHECK_FALSE(items.keep(1, 1));
  PageGuard bytes("docs.list");
  CHECK(bytes.keep(1, max_kept_bytes));
  const auto over = bytes.keep(1, 1);
  REQUIRE_FALSE(over);
  CHECK(over.error().what.find("256 MiB in one document") != std::string::npos);
}

TEST_CASE("client: an assumed limit and plain http to a named host are noted, the latter once", "[client]") {
  ClientWorld world(ClientWorld::in_turn({json_response(201, "{}")}),
                    {.base_url = "http://mock:8080", .allowed_http_hosts = {"mock:8080"}});
  REQUIRE(world.client.call({.operation = "docs.create", .body = Json{{"title", ""}, {"content", ""}}}));
  REQUIRE(world.client.call(create_call()));
  CHECK(world.notices.size() == 2);
}

TEST_CASE("client: over a real wire, an unguarded write is committed once and a keyed one is repeated", "[client]") {
  std::atomic<int> commits = 0;
  HostileServer server([&](const Seen& seen) -> Script {
    if (seen.method == "GET") return answer(200, "{}");
    ++commits;
    if (seen.header("idempotency-key") && commits > 1) return answer(201, "{}");
    return {CloseConnection{}};
  });
  const auto transport = http::make_curl_transport();
  REQUIRE(transport);
  const SystemClock clock;
  SeededRandom random{7};
  Client client(
      **transport, clock, random, {.base_url = server.origin(), .credential = Credential{secret_key, server.origin()}});
  REQUIRE(client.call({.operation = "me.get"}));
  const auto shared = client.call({.operation = "docs.share",
                                   .parameters = {{"document_id", some_id}},
                                   .body = Json{{"email", "a@example.org"}, {"permission", "read"}}});
  REQUIRE_FALSE(shared);
  CHECK(shared.error().kind == Failure::Kind::unknown_outcome);
  CHECK(shared.error().call.applied == Applied::unknown);
  CHECK_FALSE(shared.error().call.retryable);
  CHECK(commits == 1);
  commits = 0;
  const auto created = client.call(create_call());
  REQUIRE(created);
  CHECK(created->sends == 2);
  CHECK(commits == 2);
}

TEST_CASE("client: what signs an upload's address is neither traced nor told", "[client]") {
  class NoBytes final : public http::BodySource {
    std::uint64_t size_bytes() const override { return 0; }
    Result<std::size_t> read(char*, std::size_t) override { return std::size_t{0}; }
  };
  const std::string signature = "signature-0123456789";
  const std::string token = "token-0123456789";
  ClientWorld world(ClientWorld::in_turn(
      {json_response(403, R"({"detail": "no: )" + signature + R"(", "sent": ")" + token + R"("})")}));
  std::optional<Result<Reply>> ended;
  world.client.start(
      BytesPut{.url = "https://files.example/a/b?X-Signature=" + signature,
               .headers = {{"X-Token", token}},
               .open = []() -> Result<std::unique_ptr<http::BodySource>> { return std::make_unique<NoBytes>(); }},
      [&](Result<Reply> reply) { ended.emplace(std::move(reply)); });
  while (!ended) world.client.run(std::chrono::milliseconds{10});
  REQUIRE_FALSE(*ended);
  const Failure& failure = ended->error();
  std::string all = failure.what + failure.call.details;
  for (const std::string& line : world.trace) all += line;
  CHECK(all.find(signature) == std::string::npos);
  CHECK(all.find(token) == std::string::npos);
  INFO(all);
  CHECK(all.find("/a/b") == std::string::npos);
  CHECK(all.find("> PUT https://files.example:443/[redacted] (send 1)") != std::string::npos);
  CHECK(world.transport.requests().front().url == "https://files.example/a/b?X-Signature=" + signature);
}

TEST_CASE("client: a streamed body that is begun afresh is repeated like any other", "[client]") {
  std::string body;
  int sends = 0;
  ClientWorld world([&](const http::Request& request) -> std::optional<http::Outcome> {
    REQUIRE(request.sink(++sends < 3 ? "half" : "whole"));
    if (sends < 3) return transport_error(http::TransportError::Stage::no_answer);
    return json_response(200, "");
  });
  Call call{.operation = "docs.list", .sink = [&](std::string_view piece) {
              body += piece;
              return Result<void>();
            }};
  SECTION("with it") {
    call.sink_afresh = [&] { body.clear(); };
    CHECK(world.client.call(call));
    CHECK(body == "whole");
    CHECK(sends == 3);
  }
  SECTION("without it") {
    CHECK_FALSE(world.client.call(call));
    CHECK(sends == 1);
  }
}
