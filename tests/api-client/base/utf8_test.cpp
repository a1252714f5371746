#include "api-client/base/utf8.hpp"

#include <string>

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

TEST_CASE("utf8: a byte that is not valid is found wherever it stands in a long text", "[base]") {
  for (std::size_t at = 0; at < 200; ++at) {
    std::string text(200, 'a');
    CAPTURE(at);
    CHECK(utf8::is_valid(text));
    text[at] = '\x80';
    CHECK_FALSE(utf8::is_valid(text));
    text.replace(at, 1, "ä");
    CHECK(utf8::is_valid(text));
    text.resize(at + 1);  // the character is cut
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

namespace {

/// The keys with `|` between them.
std::string keys(std::string_view text) {
  std::string joined;
  for (const utf8::Word& word : utf8::words(text)) joined += (joined.empty() ? "" : "|") + word.key;
  return joined;
}

}  // namespace

TEST_CASE("utf8: words are runs of letters and digits, folded for comparison", "[base]") {
  CHECK(keys("Tides and currents, 2 of 7!") == "tides|and|currents|2|of|7");
  CHECK(keys("Réunion re\xCC\x81union RÉUNION") == "reunion|reunion|reunion");
  CHECK(keys("l'est d'\xC3\xA9t\xC3\xA9 \xEF\xAC\x81n STRASSE Straße") == "l|est|d|ete|fin|strasse|strasse");
  CHECK(keys("Ольга ёлка Ἀθήνα") == "ольга|елка|αθηνα");
  CHECK(keys("a_b-c/d.e") == "a|b|c|d|e");
  CHECK(keys("\"'*():^+-, \t\n\xE2\x80\x94\xE2\x80\xA6").empty());
  CHECK(keys("").empty());
}

TEST_CASE("utf8: scripts without spaces and symbols give one word a character", "[base]") {
  CHECK(keys("日本語の要約") == "日|本|語|の|要|約");
  CHECK(keys("ブイ7番") == keys("ﾌﾞｲ7番"));
  CHECK(keys("Café ☕ 👩\xE2\x80\x8D🔬") == "cafe|☕|👩|🔬");
  CHECK(utf8::words("日")[0].alone);
  CHECK_FALSE(utf8::words("d")[0].alone);
}

TEST_CASE("utf8: a word knows where it stands in the text", "[base]") {
  const std::string text = "- Réunion, 日本";
  const std::vector<utf8::Word> found = utf8::words(text);
  REQUIRE(found.size() == 3);
  CHECK(text.substr(found[0].begin, found[0].end - found[0].begin) == "Réunion");
  CHECK(text.substr(found[2].begin, found[2].end - found[2].begin) == "本");
}
