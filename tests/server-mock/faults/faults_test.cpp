#include "server-mock/faults/faults.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace ws;
using namespace ws::mock;

namespace {

FaultRule rule(const Json& members) {
  Json value = {{"operation", "docs.create"}, {"effect", {{"status", 503}}}};
  value.update(members);
  ValidationErrors errors;
  auto read = read_fault_rule(value, {std::string("body")}, errors);
  for (const auto& violation : errors.all()) FAIL(contract::render(violation));
  return std::move(*read);
}

const FaultSubject create = {.operation = "docs.create", .method = "POST", .path = "/v1/documents"};

/// At which of the first ten requests the rule fires.
std::vector<int> turns(const Json& members, std::uint64_t seed = 1) {
  FaultRules book(seed);
  book.add(rule(members));
  std::vector<int> fired;
  for (int i = 1; i <= 10; ++i) {
    if (book.take(create)) fired.push_back(i);
  }
  return fired;
}

std::vector<std::string> validation_errors_of(const Json& value) {
  ValidationErrors errors;
  static_cast<void>(read_fault_rules(value, {std::string("body")}, errors));
  std::vector<std::string> places;
  for (const auto& violation : errors.all()) {
    const std::string text = contract::render(violation);
    places.push_back(text.substr(0, text.find(':')));
  }
  return places;
}

}  // namespace

TEST_CASE("faults: nth, every, after and times decide when a rule fires", "[server-mock]") {
  using Turns = std::vector<int>;
  CHECK(turns(Json::object()) == Turns{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  CHECK(turns({{"nth", 1}}) == Turns{1});
  CHECK(turns({{"nth", 3}}) == Turns{3});
  CHECK(turns({{"nth", 3}, {"times", 2}}) == Turns{3, 4});
  CHECK(turns({{"every", 4}}) == Turns{4, 8});
  CHECK(turns({{"every", 2}, {"times", 3}}) == Turns{2, 4, 6});
  CHECK(turns({{"after", 7}}) == Turns{8, 9, 10});
  CHECK(turns({{"after", 0}, {"times", 1}}) == Turns{1});
  CHECK(turns({{"times", 2}}) == Turns{1, 2});
  CHECK(turns({{"probability", 1}}).size() == 10);
}

TEST_CASE("faults: probability is reproducible from the seed", "[server-mock]") {
  const Json half = {{"probability", 0.5}};
  CHECK(turns(half, 7) == turns(half, 7));
  CHECK(turns(half, 7) != turns(half, 8));
  FaultRules book(3);
  book.add(rule({{"probability", 0.2}}));
  int fired = 0;
  for (int i = 0; i < 10'000; ++i) fired += book.take(create) ? 1 : 0;
  CHECK(fired > 1'800);
  CHECK(fired < 2'200);
}

TEST_CASE("faults: a rule matches an operation, a method, a path, or patterns of them", "[server-mock]") {
  const FaultSubject move = {.operation = "nodes.move", .method = "POST", .path = "/v1/nodes/0199/x:move"};
  const auto meant = [](const Json& members, const FaultSubject& subject) {
    Json value = {{"effect", {{"reset", true}}}};
    value.update(members);
    ValidationErrors errors;
    return matches_rule(read_fault_rule(value, {}, errors).value(), subject);
  };
  CHECK(meant({{"operation", "docs.create"}}, create));
  CHECK_FALSE(meant({{"operation", "docs.get"}}, create));
  CHECK(meant({{"operation", "docs.*"}}, create));
  CHECK(meant({{"operation", "*"}}, create));
  CHECK(meant({{"method", "post"}, {"path", "/v1/documents"}}, create));
  CHECK_FALSE(meant({{"method", "GET"}, {"path", "/v1/documents"}}, create));
  CHECK(meant({{"path", "/v1/nodes/**:move"}}, move));
  CHECK_FALSE(meant({{"path", "/v1/nodes/{node_id}:move"}}, move));
  CHECK(meant({{"path", "/v1/nodes/{a}/*:move"}}, move));
  CHECK(meant({{"path", "/v1/**"}}, move));
  CHECK_FALSE(meant({{"path", "/v1/*"}}, move));
}

TEST_CASE("faults: if two rules would fire, the first does, and the other keeps its times", "[server-mock]") {
  FaultRules book(1);
  book.add(rule({{"id", "first"}, {"times", 2}}));
  book.add(rule({{"id", "second"}, {"times", 1}}));
  CHECK(book.take(create)->id == "first");
  CHECK(book.take(create)->id == "first");
  CHECK(book.take(create)->id == "second");
  CHECK(book.take(create) == nullptr);
  CHECK(book.read("first").at("matched") == 4);
  CHECK(book.read("first").at("fired") == 2);
  CHECK_FALSE(book.add(rule({{"id", "first"}})));
  CHECK(book.remove("first"));
  CHECK_FALSE(book.remove("first"));
  book.add(rule(Json::object()));
  CHECK(book.last_id() == "fault_1");
}

TEST_CASE("faults: every form of the arguments is accepted", "[server-mock]") {
  const auto effect = [](const Json& said) { return rule({{"effect", said}}).effect; };
  using End = http::WireFault::End;
  CHECK(effect({{"status", 500}}).answer->status == 500);
  CHECK(effect({{"status", {{"code", 418}, {"headers", {{"X-A", "b"}}}}}}).answer->headers.at(0).second == "b");
  CHECK(*effect({{"status", 500}, {"body", "text"}}).answer->body == "text");
  CHECK(effect({{"retry_after", 7}}).answer->status == 429);
  CHECK(effect({{"retry_after", 7}}).retry_after == "7");
  CHECK(effect({{"status", 503}, {"retry_after", nullptr}}).retry_after == "");
  CHECK_FALSE(effect({{"status", 503}}).retry_after);
  CHECK(effect({{"status", 503}, {"retry_after", "Fri, 20 Nov 2026 10:00:00 GMT"}}).answer->status == 503);
  CHECK(effect({{"delay_ms", {{"ms", 20}}}}).delay == std::chrono::milliseconds(20));
  CHECK(effect({{"hang", Json::object()}}).end == End::hang);
  CHECK(effect({{"reset", true}}).end == End::reset);
  CHECK(effect({{"close_without_answer", nullptr}}).end == End::close_without_answer);
  CHECK(effect({{"reset", false}, {"bad_json", true}}).end == End::as_usual);
  CHECK(effect({{"truncate_at", 3}}).truncate_at == 3U);
  CHECK(effect({{"truncate_at", {{"bytes", 3}}}}).truncate_at == 3U);
  CHECK(effect({{"dribble", {{"bytes", 2}, {"every_ms", 5}}}}).dribble_bytes == 2);
  CHECK(effect({{"wrong_length", true}}).wrong_length->by == 10);
  CHECK(effect({{"wrong_length", {{"by", -2}}}}).wrong_length->by == -2);
  CHECK(effect({{"wrong_length", 4}}).wrong_length->declared == 4U);
}

TEST_CASE("faults: all errors in rules are reported at once with their places", "[server-mock]") {
  const Json bad = {{"operation", "docs.creat"},
                    {"nth", 0},
                    {"every", 2},
                    {"probability", 1.5},
                    {"phase", "during"},
                    {"nht", 1},
                    {"effect", {{"status", 99}, {"delay_ms", -1}, {"explode", true}}}};
  const std::vector<std::string> places = validation_errors_of(bad);
  for (const char* place : {"body.operation",
                            "body.nth",
                            "body.every",
                            "body.probability",
                            "body.phase",
                            "body.nht",
                            "body.effect.status.status",
                            "body.effect.delay_ms",
                            "body.effect.explode"}) {
    CAPTURE(place, places);
    CHECK(std::ranges::find(places, place) != places.end());
  }
  CHECK(validation_errors_of({{"operation", "*"}}) == std::vector<std::string>{"body.effect"});
  CHECK(validation_errors_of({{"effect", {{"reset", true}}}}) == std::vector<std::string>{"body.operation"});
  CHECK(validation_errors_of({{"operation", "*"}, {"effect", {{"reset", true}, {"hang", true}}}}) ==
        std::vector<std::string>{"body.effect.reset"});
  CHECK(validation_errors_of(Json::array({{{"operation", "*"}, {"effect", Json::object()}}})) ==
        std::vector<std::string>{"body[0].effect"});
  CHECK(validation_errors_of("no rule").size() == 1);
}

TEST_CASE("faults: a rule that can never fire, or that does nothing, is refused", "[server-mock]") {
  const auto refused = [](Json members, const char* place) {
    CAPTURE(members);
    if (!members.contains("effect")) members["effect"] = {{"reset", true}};
    CHECK(validation_errors_of(members) == std::vector<std::string>{place});
  };
  refused({{"operation", "me.get"}, {"probability", 0}}, "body.probability");
  refused({{"operation", "me.get"}, {"effect", {{"reset", false}}}}, "body.effect");
  // Requests of it are answered 404, unless by this rule.
  CHECK(validation_errors_of({{"path", "/v1/nowhere"}, {"effect", {{"reset", true}}}}).empty());
}

TEST_CASE("faults: a header of a rule is one header", "[server-mock]") {
  for (const Json& said : {Json{{"status", 500}, {"headers", {{"X-A", "1\r\nX-B: 2"}}}},
                           Json{{"status", 500}, {"headers", {{"X-A: 1\r\nX-B", "2"}}}},
                           Json{{"status", 500}, {"headers", {{"", "2"}}}},
                           Json{{"status", {{"status", 500}, {"headers", {{"X A", "2"}}}}}},
                           Json{{"headers", {{"X-A", "2"}}}, {"reset", true}},
                           Json{{"status", 503}, {"retry_after", "1\r\nX-B: 2"}}}) {
    CAPTURE(said);
    const auto places = validation_errors_of({{"operation", "docs.list"}, {"effect", said}});
    REQUIRE(places.size() == 1);
    CHECK(places.front().starts_with("body.effect."));
  }
}
