#include "api-client/base/json.hpp"

#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using ws::parse_bounded;

TEST_CASE("parse_bounded: keys keep their order, and of doubles the last wins", "[base]") {
  const auto value = parse_bounded(R"({"z": 1, "a": [true, null], "z": 2})");
  REQUIRE(value);
  CHECK(ws::dump(*value) == R"({"a":[true,null],"z":2})");
}

TEST_CASE("parse_bounded: depth, number of values and bytes are bounded", "[base]") {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  CHECK_FALSE(parse_bounded(deep));
  CHECK(parse_bounded(std::string(64, '[') + std::string(64, ']')));
  CHECK_FALSE(parse_bounded(std::string(65, '[') + std::string(65, ']')));
  CHECK_FALSE(parse_bounded("[1,2,3]", {.max_values = 3}));
  CHECK(parse_bounded("[1,2]", {.max_values = 3}));
  CHECK_FALSE(parse_bounded("\"12345\"", {.max_bytes = 6}));
}

TEST_CASE("parse_bounded: a malformed text is refused with its place", "[base]") {
  const auto value = parse_bounded("{\n  \"a\": tru\n}");
  REQUIRE_FALSE(value);
  CHECK(value.error().kind == ws::Failure::Kind::invalid);
  CHECK_THAT(value.error().what, Catch::Matchers::Contains("line 2"));
  CHECK_FALSE(parse_bounded(""));
  CHECK_FALSE(parse_bounded("1 2"));
  CHECK_FALSE(parse_bounded("\"\xff\""));
}

TEST_CASE("parse_bounded: an object of 200,000 keys is read in linear time", "[base]") {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":1";
  text += "}";
  const auto value = parse_bounded(text);
  REQUIRE(value);
  CHECK(value->size() == 200'000);
}

TEST_CASE("canonical: equal values give equal bytes whatever the order of keys", "[base]") {
  const auto a = parse_bounded(R"({"b": {"y": 1, "x": "ä"}, "a": [2, 1]})");
  const auto b = parse_bounded(R"({"a":[2,1],"b":{"x":"\u00e4","y":1}})");
  CHECK(ws::canonical(*a) == ws::canonical(*b));
  CHECK(ws::canonical(*a) == R"({"a":[2,1],"b":{"x":"ä","y":1}})");
}
