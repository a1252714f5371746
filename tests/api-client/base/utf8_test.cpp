#include "api-client/base/utf8.hpp"

#include <catch2/catch.hpp>

namespace utf8 = ws::utf8;

TEST_CASE("utf8: overlong forms, surrogates and what lies above U+10FFFF are not valid", "[base]") {
  for (const char* text :
       {"", "a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF", "\xEF\xBF\xBF"}) {
    CAPTURE(text);
    CHECK(utf8::is_valid(text));
  }
  for (const char* text : {"\xC0\xAF",
                           "\xC1\xBF",
                           "\xE0\x80\x80",
                           "\xED\xA0\x80",
                           "\xF4\x90\x80\x80",
                           "\xFF",
                           "\x80",
                           "\xC3",
                           "a\xE2\x82",
                           "\xF8\x88\x80\x80\x80"}) {
    CAPTURE(text);
    CHECK_FALSE(utf8::is_valid(text));
  }
}

TEST_CASE("utf8: lengths count code points and a prefix never cuts one", "[base]") {
  const std::string text = "aä€😀";
  CHECK(utf8::code_points(text) == 4);
  CHECK(utf8::prefix(text, 2) == "aä");
  CHECK(utf8::prefix(text, 3) == "aä€");
  CHECK(utf8::prefix(text, 9) == text);
  CHECK(utf8::prefix(text, 0).empty());
}

TEST_CASE("utf8: composed and decomposed, upper and lower case names have one key", "[base]") {
  CHECK(utf8::nfc("a\xCC\x88") == "ä");
  CHECK(utf8::fold_key("A\xCC\x88.MD") == utf8::fold_key("ä.md"));
  CHECK(utf8::fold_key("STRASSE") == utf8::fold_key("straße"));
  CHECK(utf8::fold_key("a") != utf8::fold_key("ä"));
}

TEST_CASE("utf8: what a name may be taken for leaves out what nobody sees", "[base]") {
  CHECK(utf8::lookalike_key(".G\xE2\x80\x8BiT") == ".git");
  CHECK(utf8::lookalike_key("．ｇｉｔ") == ".git");
  CHECK(utf8::lookalike_key(".ws") == ".ws");
}

TEST_CASE("utf8: columns count wide and combining characters as a terminal does", "[base]") {
  CHECK(utf8::columns("abc") == 3);
  CHECK(utf8::columns("日本") == 4);
  CHECK(utf8::columns("a\xCC\x88") == 1);
}
