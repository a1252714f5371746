#include "api-client/base/clean.hpp"

#include <catch2/catch.hpp>

#include "api-client/base/utf8.hpp"

using ws::Breaks;
using ws::clean;

TEST_CASE("clean: escape sequences go whole", "[cli]") {
  CHECK(clean("a\033[31mred\033[0mb", Breaks::space) == "aredb");
  CHECK(clean("a\033]0;title\007b", Breaks::space) == "ab");
  CHECK(clean("a\033]8;;http://x\033\\link\033]8;;\033\\b", Breaks::space) == "alinkb");
  CHECK(clean("a\033P1$r0m\033\\b", Breaks::space) == "ab");
  CHECK(clean("a\033(Bb\033cc\033", Breaks::space) == "abc");
  CHECK(clean("a\xc2\x9b"
              "31mb",
              Breaks::space) == "ab");
}

TEST_CASE("escape_json: what could act is written as JSON has it, and nothing else changes", "[cli]") {
  CHECK(ws::escape_json("{\"a\":\t\"é\xc2\x9b\x7f\u202E\U000E0041\"}\r\n") ==
        "{\"a\":\t\"é\\u009b\\u007f\\u202e\\udb40\\udc41\"}\n");
  CHECK(ws::escape_json("{\"plain\": 1}") == "{\"plain\": 1}");
}

TEST_CASE("clean: other control characters are shown as what they are not", "[cli]") {
  CHECK(clean("a\bb\a", Breaks::space) == "a\uFFFDb\uFFFD");
  CHECK(clean("a\x7f", Breaks::space) == "a\uFFFD");
  CHECK(clean("a\xff", Breaks::space) == "a\uFFFD");
  CHECK(clean(std::string("a\0b", 3), Breaks::space) == "a\uFFFDb");
  // C1: next line, and one that nothing knows; neither begins a sequence.
  CHECK(clean("a\xc2\x85"
              "b\xc2\x80"
              "c",
              Breaks::space) == "a\uFFFDb\uFFFDc");
}

TEST_CASE("clean: marks that reorder text are dropped, joiners stay", "[cli]") {
  CHECK(clean("a\u202Eb\u2066c\u200Fd", Breaks::space) == "abcd");
  CHECK(clean("\U0001F469\u200D\U0001F4BB", Breaks::space) == "\U0001F469\u200D\U0001F4BB");
}

TEST_CASE("clean: line ends are kept in a text and become spaces in a cell", "[cli]") {
  CHECK(clean("a\r\nb\tc\rd", Breaks::keep) == "a\nb\tc\nd");
  CHECK(clean("a\r\nb\tc", Breaks::space) == "a b c");
}

TEST_CASE("clean: whatever two bytes come after an escape, no control survives", "[cli]") {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {'\033', static_cast<char>(first), static_cast<char>(second), 'x', '\033'};
      bool bad = false;
      ws::utf8::for_each(clean(text, Breaks::space),
                         [&bad](char32_t c) { bad = bad || c < 0x20 || (c >= 0x7F && c < 0xA0); });
      if (bad) FAIL("a control survived after ESC " << first << " " << second);
    }
  }
}
