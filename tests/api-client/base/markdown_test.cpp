#include "api-client/base/markdown.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using ws::markdown::body_offset;
using ws::markdown::first_heading;
using ws::markdown::sections;
using Path = std::vector<std::string>;

TEST_CASE("first_heading: the first level-1 heading, without its marks", "[base]") {
  CHECK(first_heading("intro\n\n## Two\n\n# The *one* `x`\n").value() == "The one x");
  CHECK(first_heading("Title\n=====\n").value() == "Title");
  CHECK(first_heading("---\ntitle: a\n---\n# Real\n").value() == "Real");
  CHECK_FALSE(first_heading("```\n# not\n```\n"));
  CHECK_FALSE(first_heading(""));
}

TEST_CASE("sections: joined they are the input, and each knows the headings above it", "[base]") {
  const std::string source = "---\nk: v\n---\nlead\n\n# A\none\n\n## B\ntwo\n\n```\n# no heading\n```\n# C\nthree";
  const auto cut = sections(source);
  std::string joined;
  for (const auto& section : cut) joined += section.text;
  CHECK(joined == source);
  REQUIRE(cut.size() == 4);
  CHECK(cut[0].heading_path.empty());
  CHECK(cut[1].heading_path == Path{"A"});
  CHECK(cut[2].heading_path == Path{"A", "B"});
  CHECK(cut[3].heading_path == Path{"C"});
  CHECK(cut[3].text == "# C\nthree");
}

TEST_CASE("sections: a text without headings is one section, an empty one is none", "[base]") {
  CHECK(sections("just words\r\nand more").size() == 1);
  CHECK(sections("").empty());
}

TEST_CASE("body_offset: only a block that is closed counts as front matter", "[base]") {
  CHECK(body_offset("---\na: b\n---\nbody") == 13);
  CHECK(body_offset("---\na: b\n") == 0);
  CHECK(body_offset("text\n---\n---\n") == 0);
  CHECK(body_offset("---\r\na: b\r\n---\r\nx") == 16);
}

TEST_CASE("markdown: plain text is the words without marks, targets and HTML", "[base]") {
  CHECK(ws::markdown::plain_text("# A *b*\n\n- see [Knots](guides/Knots.md)\n\n<b>x</b> `c`\n") ==
        "A b\n\n  - see Knots\n\nx c\n");
}

TEST_CASE("markdown: with a bound the last section holds the rest", "[base]") {
  const std::vector<ws::markdown::Section> cut = ws::markdown::sections("a\n# b\n# c\n# d\n", 2);
  REQUIRE(cut.size() == 2);
  CHECK(cut[0].text == "a\n");
  CHECK(cut[1].text == "# b\n# c\n# d\n");
  CHECK(ws::markdown::sections("# a\n# b\n", 1).size() == 1);
}
TEST_CASE("markdown: texts that cmark would take minutes for end within seconds", "[base]") {
  const auto repeated = [](std::string_view text, std::size_t bytes) {
    std::string out;
    while (out.size() < bytes) out += text;
    return out;
  };
  constexpr std::size_t many = 200'000;
  const std::vector<std::string> texts = {
      repeated("![[]()", many),
      repeated("*[a](b)", many),
      repeated("[[a]]", many),
      repeated("[^a]", many),
      repeated("[]", many),
      repeated("<a@b>", many),
      repeated("a <? ", many),
      repeated("![[]()\n     >\n", many),
      repeated("x\n      - ![[]()\n", many),
      repeated("1. ", many) + "x",
      repeated("- ", many) + "x" + repeated("\n", many),
      repeated("- ", many) + "x" + repeated("\na", many),
      repeated(">", many) + "x" + repeated("\na", many),
      repeated("a|", many) + "\n" + repeated("-|", many) + "\n" + repeated("a\n", many),
      "[a]: " + repeated("u", many) + "\n\n" + repeated("[a]", many),
      "[a]:\n" + repeated("u", many) + "\n\n" + repeated("[a]", many),
  };
  for (const std::string& text : texts) {
    INFO(text.substr(0, 40));
    const auto start = std::chrono::steady_clock::now();
    CHECK(ws::markdown::parse(text).is_limited == (text.find('@') == std::string::npos));
    CHECK_FALSE(ws::markdown::plain_text(text).empty());
    std::string joined;
    for (const auto& section : sections(text)) joined += section.text;
    CHECK(joined == text);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(8));
  }
}

TEST_CASE("markdown: long texts that people write are read with all their marks", "[base]") {
  std::string index;
  std::string table = "| name | link |\n|---|---|\n";
  std::string prose;
  for (int i = 0; i < 8000; ++i) {
    const std::string link = "[page *" + std::to_string(i) + "*](pages/some_long_name_of_" + std::to_string(i) + ".md)";
    index += "- " + link + ", and " + link + "\n";
    table += "| " + link + " | " + link + " |\n";
    prose += link + " with words around it\n" + (i % 20 == 19 ? "\n" : "");
  }
  for (const std::string& text : {index, table, prose, index + "\n" + table + "\n" + prose}) {
    CHECK_FALSE(ws::markdown::parse(text).is_limited);
  }
}
