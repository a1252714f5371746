#include "api-client/base/yaml.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using ws::parse_yaml;

TEST_CASE("yaml: plain scalars get their type, quoted ones stay text", "[base]") {
  const auto value = parse_yaml("a: 5\nb: \"5\"\nc: true\nd: ~\ne: 1.5\nf: [x, 'no']\ng: {h: -3}\n");
  REQUIRE(value);
  CHECK(ws::dump(*value) == R"({"a":5,"b":"5","c":true,"d":null,"e":1.5,"f":["x","no"],"g":{"h":-3}})");
}

TEST_CASE("yaml: anchors, aliases, tags and doubled keys are refused with their place", "[base]") {
  for (const char* text :
       {"a: &x 1\n", "a: *x\n", "a: !!str 1\n", "a: 1\na: 2\n", "[a]: 1\n", "a: [1, 2\n", "a: b: c\n"}) {
    CAPTURE(text);
    const auto value = parse_yaml(text);
    REQUIRE_FALSE(value);
    CHECK(value.error().kind == ws::Failure::Kind::invalid);
  }
  CHECK_THAT(parse_yaml("ok: 1\nbad: *x\n").error().what, Catch::Matchers::StartsWith("line 2, column 6"));
  CHECK_THAT(parse_yaml("include: [*.txt]\n").error().what,
             Catch::Matchers::Contains("quote a text that begins with *"));
}

TEST_CASE("yaml: control characters are refused with their place", "[base]") {
  using namespace std::string_view_literals;
  CHECK(parse_yaml("0\0\0\0key0"sv).error().what == R"(line 1, column 2: a control character; write it as "\x00")");
  CHECK(parse_yaml("a: 1\nb\xc3\xa4: \x04"sv).error().what ==
        R"(line 2, column 5: a control character; write it as "\x04")");
  CHECK(parse_yaml(R"(a: "\N")").error().what ==
        R"(line 1, column 4: \N and \_ are not read; write \u0085 and \u00A0)");
  CHECK(parse_yaml("\"\\x04\"").value() == "\x04");
}

TEST_CASE("yaml: an alias bomb costs nothing", "[base]") {
  CHECK_FALSE(parse_yaml("a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\n"));
  CHECK_FALSE(parse_yaml(std::string(100'000, '[')));
}

TEST_CASE("yaml: what is written is read back as it was", "[base]") {
  const auto value = ws::parse_bounded(
      R"({"name":"a: b","empty":"","number":"5","list":[1,"two",null],"text":"a\nb\n","deep":{"on":true}})");
  REQUIRE(value);
  const auto again = parse_yaml(ws::to_yaml(*value));
  REQUIRE(again);
  CHECK(*again == *value);
  CHECK(parse_yaml("").value().is_null());
  for (const std::string& text : std::initializer_list<std::string>{std::string("n\0\n", 3),
                                                                    "a\x04\n",
                                                                    "a\nb",
                                                                    "a\nb\n",
                                                                    "a\n\n",
                                                                    "\na\n",
                                                                    " a\nb\n",
                                                                    "a\r\nb\n",
                                                                    "a\rb",
                                                                    "\n",
                                                                    "\t",
                                                                    "a\n  ",
                                                                    "~",
                                                                    "- a\n"}) {
    CAPTURE(text);
    CHECK(parse_yaml(ws::to_yaml(ws::Json{{"text", text}, {"list", {text}}})).value() ==
          ws::Json{{"text", text}, {"list", {text}}});
    CHECK(parse_yaml(ws::to_yaml(ws::Json{{text, text}})).value() == ws::Json{{text, text}});
  }
  // What a reader of YAML 1.1 takes for a number, a time, a truth or a merge is quoted; an id is not.
  for (const char* text :
       {"0x1f", "1_000", "0o17", "12:30:45", "2026-01-31", "1e3", ".inf", "-.5", "+1", "yes", "Off", "=", "<<"}) {
    CHECK(ws::to_yaml(ws::Json{{"a", text}}) == "a: \"" + std::string(text) + "\"\n");
  }
  CHECK(ws::to_yaml(ws::Json("018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b")) == "018f6b2a-9c1d-7e3f-8a4b-5c6d7e8f9a0b\n");
  // A key of more than 1,024 characters is no implicit key (YAML 1.2, 7.4.2), whether it is plain or escaped.
  for (const std::string& key : {std::string(1100, 'a'), std::string(300, '\x1b'), std::string(2000, '\'')}) {
    const ws::Json keyed = {{key, {{"short", 1}, {key, nullptr}}}, {"next", {key}}};
    CHECK(parse_yaml(ws::to_yaml(keyed)).value() == keyed);
  }
}

TEST_CASE("yaml: what a reader may take for the end of a line, or for no text, is escaped wherever it stands",
          "[base]") {
  for (const std::string one : {"\u2028", "\u2029", "\u0085", "\ufeff", "\x7f", "\u009b"}) {
    for (const std::string& text : {one, one + "x", "x" + one, "a: " + one + " b", "line\n" + one + "\n"}) {
      const std::string yaml = ws::to_yaml(ws::Json{{"text", text}, {text, 1}});
      CAPTURE(yaml);
      CHECK(yaml.find(one) == std::string::npos);
      CHECK(parse_yaml(yaml).value() == ws::Json{{"text", text}, {text, 1}});
    }
  }
}

TEST_CASE("yaml: every value is told with its place", "[base]") {
  const auto placed = ws::parse_yaml_with_positions("people:\n  - {email: a, tags: [x, y]}\n  - email: b\nend: ~\n");
  REQUIRE(placed);
  const auto at = [&](const std::string& pointer) { return placed->places.at(pointer); };
  CHECK(at("") == ws::TextPosition{1, 1});
  CHECK(at("/people") == ws::TextPosition{2, 3});
  CHECK(at("/people/0/email") == ws::TextPosition{2, 13});
  CHECK(at("/people/0/tags/1") == ws::TextPosition{2, 26});
  CHECK(at("/people/1/email") == ws::TextPosition{3, 12});
  CHECK(at("/end") == ws::TextPosition{4, 6});
  CHECK(placed->places.size() == 10);
  CHECK(placed->keys.at("/people") == ws::TextPosition{1, 1});
  CHECK(placed->keys.at("/people/1/email") == ws::TextPosition{3, 5});
  CHECK(placed->keys.size() == 5);
}

TEST_CASE("yaml: a key that reads as a number is quoted, as the statuses of an OpenAPI document must be", "[base]") {
  const auto value = ws::parse_bounded(R"({"200":{"description":"OK"},"true":1,"plain":2})");
  REQUIRE(value);
  const std::string text = ws::to_yaml(*value);
  CHECK(text.substr(0, 6) == "\"200\":");
  CHECK(text.find("\"true\": 1") != std::string::npos);
  CHECK(text.find("\nplain: 2") != std::string::npos);
}
