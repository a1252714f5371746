#include "sync-engine/links/references.hpp"

#include <array>
#include <cctype>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "api-client/base/utf8.hpp"
#include "sync-engine/links/targets.hpp"
#include "tests/support/build_paths.hpp"

namespace ws::sync::links {
namespace {

constexpr std::array<const char*, 8> kind_names = {
    "link", "image", "definition", "autolink", "html", "wiki_link", "wiki_embed", "front_matter"};
constexpr std::array<const char*, 3> encoding_names = {"", " percent", " angle"};

struct ReferenceCase {
  std::string name = {};
  std::string text = {};
  std::string expected = {};
};

std::vector<ReferenceCase> reference_cases() {
  std::ifstream file(ws::test::source_path("/tests/data/links/references.cases"));
  std::stringstream whole;
  whole << file.rdbuf();
  std::string text = whole.str();
  std::vector<ReferenceCase> cases;
  for (std::size_t at = text.find("\n=== "); at != std::string::npos;) {
    const std::size_t next = text.find("\n=== ", at + 1);
    const std::string part = text.substr(at + 5, next == std::string::npos ? next : next - at - 5);
    const std::size_t name = part.find('\n');
    const std::size_t split = part.rfind("\n---\n");
    REQUIRE(split != std::string::npos);
    ReferenceCase one{.name = part.substr(0, name), .text = part.substr(name + 1, split - name)};
    one.expected = part.substr(split + 5);
    while (!one.expected.empty() && one.expected.back() == '\n') one.expected.pop_back();
    cases.push_back(std::move(one));
    at = next;
  }
  return cases;
}

std::string shown(const std::string& text, const std::vector<Reference>& references) {
  std::string out;
  for (const Reference& each : references) {
    if (!out.empty()) out += '\n';
    out += kind_names[static_cast<std::size_t>(each.kind)];
    out += " " + each.path + (each.has_fragment ? "#" + each.fragment : "");
    out += encoding_names[static_cast<std::size_t>(each.encoding)];
    out += " `" + text.substr(each.target_begin, each.target_end - each.target_begin) + "`";
  }
  return out;
}

}  // namespace

TEST_CASE("links: every case of the corpus is read as it is written there, with LF and with CR LF", "[links]") {
  const std::vector<ReferenceCase> cases = reference_cases();
  CHECK(cases.size() >= 18);
  for (const ReferenceCase& one : cases) {
    INFO(one.name);
    CHECK(shown(one.text, read_references(one.text)) == one.expected);
    std::string windows;
    for (const char c : one.text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
    CHECK(shown(windows, read_references(windows)) == one.expected);
  }
}

TEST_CASE("links: a target that is written again as it was is the same bytes", "[links]") {
  for (const ReferenceCase& one : reference_cases()) {
    INFO(one.name);
    for (const Reference& each : read_references(one.text)) {
      CAPTURE(each.path);
      CHECK(each.begin <= each.target_begin);
      CHECK(each.target_begin <= each.path_end);
      CHECK(each.path_end <= each.target_end);
      CHECK(each.target_end <= each.end);
      const std::string was = one.text.substr(each.target_begin, each.path_end - each.target_begin);
      CHECK(write_path(each.path, was, each) == was);
    }
  }
}

TEST_CASE("links: a path is written in the style of the place", "[links]") {
  const auto written = [](const std::string& text, const std::string& path) {
    const std::vector<Reference> references = read_references(text);
    REQUIRE(references.size() == 1);
    const Reference& one = references[0];
    auto raw = write_path(path, text.substr(one.target_begin, one.path_end - one.target_begin), one);
    if (!raw) return std::string("(impossible)");
    return text.substr(0, one.target_begin) + *raw + text.substr(one.path_end);
  };
  CHECK(written("[a](a.md#x \"t\")", "b c.md") == "[a](b%20c.md#x \"t\")");
  CHECK(written("[a](<a b.md#x> 't')", "c d.md") == "[a](<c d.md#x> 't')");
  CHECK(written("[a](%C3%A4/a.md)", "ä/ö.md") == "[a](%C3%A4/%C3%B6.md)");
  CHECK(written("[a](ä/a.md)", "ä/ö (1).md") == "[a](ä/ö%20%281%29.md)");
  CHECK(written("[a](a\\_b/c.md)", "a_b/d#e.md") == "[a](a\\_b/d%23e.md)");
  CHECK(written("<img src=\"a.png\">", "b \"c\".png") == "<img src=\"b%20%22c%22.png\">");
  CHECK(written("<img src='my dir/p 2.png'>", "new dir/p 2.png") == "<img src='new dir/p 2.png'>");
  CHECK(written("<img src='my dir/p.png'>", "new (it's) = 50%.png") == "<img src='new (it%27s) %3D 50%25.png'>");
  CHECK(written("<img src=\"it's/p.png\">", "it's a/q.png") == "<img src=\"it's%20a/q.png\">");
  CHECK(written("[[a|b]]", "c d") == "[[c d|b]]");
  CHECK(written("[[a|b]]", "c|d") == "(impossible)");
  CHECK(written("[a]: a.md 'x'", "100%.md") == "[a]: 100%25.md 'x'");
}

TEST_CASE("links: anchors are GitHub's slugs of the headings, and ids", "[links]") {
  const NoteLinks note = read_note(
      "# Hello, World!\n\n## A `code` [link](x.md)\n\n# Hello World\n\nÄpfel & Öl\n---\n\n> ## in_a-quote\n\n"
      "<a id=\"mark\"></a>\n\n```\n# no\n```\n");
  CHECK(note.anchors ==
        std::vector<std::string>{"mark", "hello-world", "a-code-link", "hello-world-1", "äpfel--öl", "in_a-quote"});
  CHECK(utf8::slug("What's new?") == "whats-new");
}

// Paragraphs of mere prose are not given to cmark: a `>` in a line makes it one that is.
TEST_CASE("links: prose that is not read as Markdown hides no block around it", "[links]") {
  const std::vector<std::string> blocks = {"plain words\n",
                                           "\n",
                                           "\n",
                                           "[a](b.md)\n",
                                           "![c](\nd.png)\n",
                                           "Über uns, *the* rest\n",
                                           "===\n",
                                           "---\n",
                                           "> quoted\n",
                                           "- item\n",
                                           "    indented\n",
                                           "```\n",
                                           "~~~ x\n",
                                           "<div>\n",
                                           "<!-- comment\n",
                                           "-->\n",
                                           "| a | b |\n",
                                           "|---|---|\n",
                                           "[d]: e.md\n",
                                           "[f]:\n",
                                           "1. one\n",
                                           "a word\n",
                                           "# Head\n",
                                           "Setext `heading`\n",
                                           "[g](h.md 'a\n",
                                           "the title')\n",
                                           "two words  \n",
                                           "<pre>\n",
                                           "</pre>\n",
                                           "<a id=\"x\">\n",
                                           "[i]\n",
                                           "\r\n",
                                           "last line",
                                           "[[wiki\n",
                                           "the name]]\n"};
  std::mt19937 random(20261124);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    std::string with_marks;
    for (std::size_t count = random() % 12 + 1; count > 0; --count) {
      const std::string& block = blocks[random() % blocks.size()];
      const bool is_prose = std::isalpha(static_cast<unsigned char>(block[0])) != 0 || block[0] == '\xC3';
      text += block;
      with_marks += block;
      if (is_prose && block.back() == '\n') {
        const std::size_t line_end = block.size() - block.find_last_not_of(" \n") - 1;
        with_marks.insert(with_marks.size() - line_end, ">");
      }
    }
    const NoteLinks note = read_note(text);
    const NoteLinks marked = read_note(with_marks);
    CAPTURE(i, text);
    REQUIRE(shown(text, note.references) == shown(with_marks, marked.references));
    REQUIRE(note.anchors == marked.anchors);
  }
}

TEST_CASE("links: a place is a line and a column of bytes", "[links]") {
  const TextPlaces places("ab\ncd\n");
  CHECK(places.of(4).line == 2);
  CHECK(places.of(4).column == 2);
  CHECK(places.of(2).line == 1);
  CHECK(places.of(2).column == 3);
  CHECK(places.of(3).column == 1);
  CHECK(TextPlaces("ab").of(0).line == 1);
}

}  // namespace ws::sync::links
