// States are equal up to the names of ids, the order of rows, and times; anything else is found and named.
#include "server-mock/sweep/state_diff.hpp"

#include <algorithm>
#include <map>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/random.hpp"
#include "tests/support/random_cases.hpp"

using namespace ws;
using namespace ws::mock::sweep;

namespace {

std::string uuid(std::uint64_t number) {
  char text[40];
  std::snprintf(
      text, sizeof text, "%08x-0000-7000-8000-%012x", static_cast<unsigned>(number), static_cast<unsigned>(number));
  return text;
}

/// Documents with threads and comments on them; many look alike.
Json random_state(SeededRandom& random) {
  Json documents = Json::array();
  Json threads = Json::array();
  Json entries = Json::array();
  std::uint64_t next = 1;
  const std::uint64_t count = 1 + random.below(5);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string document = uuid(next++);
    documents.push_back({{"id", document},
                         {"node_id", uuid(next++)},
                         {"status", "active"},
                         {"content", "text " + std::to_string(random.below(3))},
                         {"created_at", 1000 + i},
                         {"content_revision", random.below(9)}});
    for (std::uint64_t t = random.below(3); t > 0; --t) {
      const std::string thread = uuid(next++);
      threads.push_back(
          {{"id", thread}, {"document_id", document}, {"status", "open"}, {"anchor", "{\"in\":\"" + document + "\"}"}});
      for (std::uint64_t e = 1 + random.below(2); e > 0; --e) {
        entries.push_back({{"id", uuid(next++)},
                           {"thread_id", thread},
                           {"body", "word " + std::to_string(random.below(2)) + " at 2026-11-20T10:00:00.000Z"}});
      }
    }
  }
  return {{"tables", {{"documents", documents}, {"comment_threads", threads}, {"comment_entries", entries}}}};
}

std::string renamed(std::string text, std::uint64_t by) {
  for (std::size_t at = text.find("-0000-7000-8000-"); at != std::string::npos;
       at = text.find("-0000-7000-8000-", at + 1)) {
    const std::uint64_t number = std::stoull(text.substr(at - 8, 8), nullptr, 16);
    text.replace(at - 8, 36, uuid((number * 7919 + by) & 0xffffffU));
  }
  return text;
}

/// The same world: other ids, other times, rows in another order.
Json disguised(const Json& state, SeededRandom& random) {
  std::string text = renamed(dump(state), 1 + random.below(10'000));
  for (std::size_t at = text.find("10:00:00.000Z"); at != std::string::npos; at = text.find("10:00:00.000Z"))
    text.replace(at, 13, "11:07:00.5Z");
  Json other = *parse_bounded(text);
  for (auto& [table, rows] : other["tables"].items()) {
    for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
    for (Json& row : rows) {
      if (row.contains("created_at")) row["created_at"] = random.below(1'000'000);
      if (row.contains("content_revision")) row["content_revision"] = random.below(100);
    }
  }
  return other;
}

}  // namespace

TEST_CASE("sweep: states with other ids, times and orders are equal", "[sweep]") {
  const std::uint64_t cases = ws::test::number_from_environment("WS_CASES", 300);
  SeededRandom random(ws::test::number_from_environment("WS_SEED", 1));
  for (std::uint64_t i = 0; i < cases; ++i) {
    const Json state = random_state(random);
    CAPTURE(dump(state));
    CHECK(compare_states(nullptr, state, disguised(state, random)).empty());
  }
}

TEST_CASE("sweep: one member that differs is found and named", "[sweep]") {
  const std::uint64_t cases = ws::test::number_from_environment("WS_CASES", 300);
  SeededRandom random(ws::test::number_from_environment("WS_SEED", 2));
  for (std::uint64_t i = 0; i < cases; ++i) {
    const Json state = random_state(random);
    Json other = disguised(state, random);
    CAPTURE(dump(state), dump(other));
    const bool is_document = other["tables"]["comment_entries"].empty() || random.below(2) == 0;
    const char* table = is_document ? "documents" : "comment_entries";
    const char* column = is_document ? "content" : "body";
    Json& rows = other["tables"][table];
    rows[random.below(rows.size())][column] = "never written before";
    const auto found = compare_states(nullptr, state, other);
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == Difference::Kind::changed);
    CHECK(found[0].table == table);
    CHECK(found[0].column == column);
    CHECK(found[0].is == "never written before");
  }
}

TEST_CASE("sweep: an object too many, one missing, and one that belongs elsewhere are told apart", "[sweep]") {
  const std::string a = uuid(1);
  const std::string b = uuid(2);
  const auto state = [](Json documents, Json threads) {
    return Json{{"tables", {{"documents", std::move(documents)}, {"comment_threads", std::move(threads)}}}};
  };
  const Json one = {{"id", a}, {"content", "one"}, {"title", "One"}};
  const Json two = {{"id", b}, {"content", "two"}, {"title", "Two"}};
  const Json on_one = {{"id", uuid(3)}, {"document_id", a}};
  const Json on_two = {{"id", uuid(3)}, {"document_id", b}};
  const Json reference = state({one, two}, {on_one});
  const Json twin = {{"id", uuid(9)}, {"content", "one"}, {"title", "One"}};
  const auto extra = compare_states(nullptr, reference, state({one, two, twin}, {on_one}));
  REQUIRE(extra.size() == 1);
  CHECK(extra[0].kind == Difference::Kind::extra);
  CHECK(extra[0].title == "One");
  const auto missing = compare_states(nullptr, reference, state({one}, {on_one}));
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].kind == Difference::Kind::missing);
  CHECK(missing[0].table == "documents");
  const auto elsewhere = compare_states(nullptr, reference, state({one, two}, {on_two}));
  REQUIRE_FALSE(elsewhere.empty());
  CHECK(elsewhere[0].kind == Difference::Kind::unlinked);
}

TEST_CASE("sweep: ids of the first state keep their names, a change that is missing is told", "[sweep]") {
  const auto state = [](const char* one, const char* two) {
    return Json{
        {"tables", {{"documents", {{{"id", uuid(1)}, {"content", one}}, {{"id", uuid(2)}, {"content", two}}}}}}};
  };
  const Json first = state("old", "old");
  CHECK(compare_states(first, state("new", "old"), state("new", "old")).empty());
  CHECK(compare_states(nullptr, state("new", "old"), state("old", "new")).empty());
  CHECK(compare_states(first, state("new", "old"), state("old", "new")).size() == 2);
  const auto lost = compare_states(first, state("new", "old"), state("old", "old"));
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].is_as_before);
}
