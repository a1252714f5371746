#include "api-client/base/json.hpp"

#include <optional>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/base/random.hpp"
#include "api-client/base/utf8.hpp"
#include "tests/support/random_cases.hpp"

using ws::Json;
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

TEST_CASE("json: what is written on one line is what the library writes", "[base]") {
  const Json value = {{"", nullptr},
                      {"empty", Json::object()},
                      {"none", Json::array()},
                      {"nested", {{"a", {1, -2, 18446744073709551615U, -9223372036854775807 - 1}}}},
                      {"numbers", {0.5, -0.0, 1e300, 3.0}},
                      {"truth", {true, false}},
                      {"escapes", "\"\\/\b\f\n\r\t\x01\x1f\x7f"},
                      {std::string("nul\0key", 7), "käse \xF0\x9F\x8E\x89"},
                      {"broken", "a\xff\xc3(b"}};
  CHECK(ws::dump(value) == value.dump(-1, ' ', false, Json::error_handler_t::replace));
  CHECK(ws::dump(Json()) == "null");
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t place = 0; place < 18; ++place) {
      std::string text(18, 'x');
      text[place] = static_cast<char>(byte);
      if (ws::dump(Json(text)) != Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)) FAIL_CHECK(text);
    }
  }
  CHECK(ws::dump(Json("text")) == "\"text\"");
}

TEST_CASE("json: bytes that are no UTF-8 are found however deep they lie", "[base]") {
  CHECK(ws::is_utf8({{"käse", {1, nullptr, {{"a", "ö"}}}}}));
  CHECK_FALSE(ws::is_utf8("\xff"));
  CHECK_FALSE(ws::is_utf8({{"a", {1, {{"b", "\xc3("}}}}}));
  CHECK_FALSE(ws::is_utf8({{"a", {{"\xed\xa0\x80", true}}}}));
}

TEST_CASE("json: an object made member by member is the object", "[base]") {
  CHECK(ws::ObjectBuilder(2).add("a", 1).add("b", "text").add("c", Json::array()).take() ==
        Json{{"a", 1}, {"b", "text"}, {"c", Json::array()}});
}

TEST_CASE("json: an object written at once is what its tree is written as, whatever its texts", "[base]") {
  constexpr std::uint64_t cases = 2000;
  const std::uint64_t seed = ws::test::number_from_environment("WS_SEED", 1);
  for (std::uint64_t i = 0; i < cases; ++i) {
    ws::SeededRandom random(seed * cases + i);
    // Every byte; half of the texts of whole characters, so that they are UTF-8.
    const auto text = [&] {
      std::string made;
      const bool is_utf8 = random.below(2) == 0;
      for (std::uint64_t left = random.below(70); left > 0; --left) {
        if (is_utf8) {
          ws::utf8::append(made,
                           static_cast<char32_t>(random.below(4) == 0 ? random.below(0xD800) : random.below(128)));
        } else {
          made += static_cast<char>(random.below(random.below(20) == 0 ? 256 : 128));
        }
      }
      return made;
    };
    ws::ObjectBuilder tree(8);
    ws::ObjectText written(8);
    for (std::uint64_t left = random.below(6); left > 0; --left) {
      const std::string key = "a_key" + std::to_string(random.below(1000)) + std::to_string(left);
      const std::string value = text();
      const auto number = static_cast<std::int64_t>(random.next());
      switch (random.below(4)) {
        case 0: tree.add(key, value), written.add(key, value); break;
        case 1: tree.add(key, number), written.add(key, number); break;
        case 2: tree.add_or_null(key, value), written.add_or_null(key, value); break;
        default:
          tree.add(key, ws::ObjectBuilder(1).add(key, value).take());
          written.add(key, ws::ObjectText(1).add(key, value).take());
      }
    }
    const std::string as_text = written.take().text;
    const Json as_tree = tree.take();
    INFO("WS_SEED=" << seed << ", case " << i);
    REQUIRE(as_text == as_tree.dump(-1, ' ', false, Json::error_handler_t::replace));
    REQUIRE(as_text == ws::dump(as_tree));
    ws::LazyJson lazy(ws::JsonText{as_text});
    REQUIRE(lazy.text() == as_text);
    REQUIRE(ws::dump(*lazy) == as_text);
    REQUIRE(lazy.text() == as_text);
  }
  CHECK(ws::LazyJson().text() == "null");
}

namespace {

/// As the library reads it alone; empty where it refuses.
std::optional<std::string> read_by_library(const std::string& text) {
  const Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? std::nullopt : std::optional(ws::dump(value));
}

std::optional<std::string> read_by_us(const std::string& text) {
  const auto value = parse_bounded(text);
  return value ? std::optional(ws::dump(*value)) : std::nullopt;
}

}  // namespace

TEST_CASE("parse_bounded: what it takes, and what it makes of it, is what the library does", "[base]") {
  const std::string text = GENERATE(as<std::string>(),
                                    "0",
                                    "-0",
                                    "-12",
                                    "01",
                                    "-",
                                    "1.",
                                    ".5",
                                    "1.5e3",
                                    "-1E-2",
                                    "9223372036854775807",
                                    "-9223372036854775808",
                                    "-9223372036854775809",
                                    "18446744073709551615",
                                    "18446744073709551616",
                                    "1e999",
                                    "tru",
                                    "truex",
                                    " [ ] ",
                                    "[1,]",
                                    "{,}",
                                    "{\"a\" 1}",
                                    "{\"a\":1,}",
                                    "{\"a\":{\"b\":[{},[],\"\",null,false]}}",
                                    "\"a long text without anything special in it, beyond eight bytes\"",
                                    "\"1234567\\n1234567\\\"12345678\\\\\\/\\b\\f\\r\\t\"",
                                    "\"\\u00e9\\u20ac\\ud83d\\ude00\"",
                                    "\"\\ud83d\"",
                                    "\"\\ud83d\\u0041\"",
                                    "\"\\ude00\"",
                                    "\"\\u12g4\"",
                                    "\"\\u12\"",
                                    "\"\\x\"",
                                    "\"open",
                                    "\"open\\",
                                    "\"a\tb\"",
                                    "\"\u007f\u00e4\u20ac\U0001F600\"",
                                    "\"12345678\n\"",
                                    "[1] x",
                                    "\r\n\t {} \n",
                                    "\xEF\xBB\xBF[1]");
  CAPTURE(text);
  CHECK(read_by_us(text) == read_by_library(text));
}

TEST_CASE("parse_bounded: any byte changed, it agrees with the library", "[base]") {
  const std::string good =
      R"({"id": 12, "content_text": "# A \"title\"\n\nWords \u00e4 that are long enough\\.", "b": [true, -3, 1.5, {}]})";
  REQUIRE(read_by_us(good) == read_by_library(good));
  constexpr std::string_view others = "\"\\{}[],:0-.eux \n\x01\x7f";
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char other : others) {
      std::string text = good;
      text[i] = other;
      CAPTURE(text);
      REQUIRE(read_by_us(text) == read_by_library(text));
    }
    const std::string cut = good.substr(0, i);
    CAPTURE(cut);
    REQUIRE(read_by_us(cut) == read_by_library(cut));
  }
}

TEST_CASE("json: a NUL ends no text, whatever stands behind it", "[base]") {
  using namespace std::string_view_literals;
  for (const std::string_view text : {"{}\0 garbage"sv, "[1]\0"sv, "1.5\0x"sv, "\0"sv, "\"a\0b\""sv}) {
    const auto read = ws::parse_bounded(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == ws::Failure::Kind::invalid);
  }
}
