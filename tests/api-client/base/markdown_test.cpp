#include "api-client/base/markdown.hpp"

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
