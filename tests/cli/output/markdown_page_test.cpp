#include "cli/output/markdown_page.hpp"

#include <catch2/catch.hpp>

#include "tests/support/widest_line.hpp"

using namespace ws::cli;

namespace {

std::string page(std::string_view source, int columns = 80) {
  return render_markdown(source, Terminal({.columns = columns}, Environment()));
}

std::string coloured(std::string_view source) {
  Terminal terminal({.out_is_terminal = true}, Environment());
  terminal.set_color(ColorChoice::always);
  return terminal.rendered(render_markdown(source, terminal), Controls::keep);
}

}  // namespace

TEST_CASE("markdown page: headings, paragraphs and inline marks", "[cli]") {
  CHECK(page("---\nfront: matter\n---\n# One *two*\n\nSome `code` and **bold**\nin a paragraph.\n") ==
        "# One two\n\nSome `code` and bold in a paragraph.\n");
  CHECK(page("") == "");
  CHECK(page("a  \nb") == "a\nb\n");
}

TEST_CASE("markdown page: lists, nested, numbered, and tasks", "[cli]") {
  CHECK(page("- one\n  - inner\n- two\n") == "• one\n  • inner\n• two\n");
  CHECK(page("3. three\n4. four\n") == "3. three\n4. four\n");
  CHECK(page("- [ ] open\n- [x] done\n") == "[ ] open\n[x] done\n");
  CHECK(page("- one\n\n- two\n\n  more\n") == "• one\n\n• two\n\n  more\n");
}

TEST_CASE("markdown page: a line that wraps goes on below its text", "[cli]") {
  CHECK(page("- aaaaaaaa bbbbbbbb cccccccc\n", 20) == "• aaaaaaaa bbbbbbbb\n  cccccccc\n");
  CHECK(page("> aaaaaaaa bbbbbbbb cccccccc\n", 20) == "│ aaaaaaaa bbbbbbbb\n│ cccccccc\n");
}

TEST_CASE("markdown page: tables keep their columns, wide cells are wrapped", "[cli]") {
  CHECK(page("| a | number |\n|---|---:|\n| x **y** | 1 |\n") == "a    number\n───────────\nx y       1\n");
  const std::string wide =
      page("| k | v |\n|---|---|\n| a | " + std::string("word ") + "word word word word word word |\n", 30);
  CHECK(ws::test::widest_line(wide) <= 30);
  CHECK(wide.find("\n   word") != std::string::npos);
  CHECK(page("| 日本 | x |\n|---|---|\n| a | y |\n") == "日本  x\n───────\na     y\n");
}

TEST_CASE("markdown page: code is not wrapped, quotes and rules are drawn", "[cli]") {
  CHECK(page("```sh\nls  -l\n\n\techo\n```\n\n---\n", 20) == "    ls  -l\n\n    \techo\n\n────────────────────\n");
}

TEST_CASE("markdown page: links show where they lead, unless they say so themselves", "[cli]") {
  CHECK(page("[Tides](/v1/documents/018f6b2a) turn\n") == "Tides turn\n");
  CHECK(page("[Knots](guides/Knots.md) <https://a.example>\n") == "Knots (guides/Knots.md) https://a.example\n");
  CHECK(page("![A boat](boat.png)\n") == "[image] A boat (boat.png)\n");
}

TEST_CASE("markdown page: no line is wider than the terminal, and at most 120", "[cli]") {
  std::string words;
  for (int i = 0; i < 200; ++i) words += "日本 word ";
  const int columns = GENERATE(40, 80, 120, 200);
  CAPTURE(columns);
  const std::size_t widest = ws::test::widest_line(page(words + "\n\n- " + words + "\n\n> " + words, columns));
  CHECK(widest <= static_cast<std::size_t>(std::min(columns, 120)));
  CHECK(widest > static_cast<std::size_t>(std::min(columns, 120)) - 8);
}

TEST_CASE("markdown page: no escape sequence of the text gets through", "[cli]") {
  const std::string evil =
      "# \033[31mred\033[0m\n\n`\033]0;title\007`\n\n```\n\033[2J\n```\n\n[a](\033[1mb)\n\n<b\033[5m>\n\n| \033[1mx "
      "|\n|---|\n";
  CHECK(page(evil).find('\033') == std::string::npos);
  CHECK(page("a\u202Eb").find("\u202E") == std::string::npos);
}

TEST_CASE("markdown page: colour where the terminal has it", "[cli]") {
  CHECK(coloured("**b** `c`") == "\033[1mb\033[0m \033[36mc\033[0m\n");
  CHECK(coloured("# H") == "\033[2m#\033[0m \033[1mH\033[0m\n");
}

TEST_CASE("markdown page: a text of brackets and quotes does not go deeper than it may", "[cli]") {
  const std::string deep(5000, '>');
  CHECK(page(deep + "x").size() < 20000);
  CHECK_NOTHROW(page(std::string(20000, '[')));
}
