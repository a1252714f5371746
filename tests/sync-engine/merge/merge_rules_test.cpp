// The rules of sections, of blanks, of front matter and of entries at two places, on random texts. A failure prints its
// seed: `WS_SEED` repeats it, `WS_CASES` says how many.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sync-engine/merge/merge.hpp"
#include "tests/support/random_cases.hpp"

namespace ws::sync {
namespace {

using Parts = std::vector<std::string>;

class RuleStory {
 public:
  explicit RuleStory(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  std::string word() { return "w" + std::to_string(++words_); }

  /// Sections that a side brings in; `name` keeps those of two sides apart.
  Parts sections(const std::string& name) {
    Parts parts;
    for (std::size_t i = below(2); i < 2; ++i) {
      std::string body = one_in(2) ? "- " + word() + "\n- " + word() + "\n" : word() + " " + word() + "\n";
      if (one_in(4)) body += "\n### " + word() + "\n\n" + word() + "\n";
      parts.push_back("## " + name + std::to_string(i) + "\n\n" + body);
    }
    return parts;
  }

 private:
  std::mt19937_64 random_;
  std::size_t words_ = 0;
};

std::string joined(const Parts& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "\n") + part;
  return text;
}

std::string merged_rule(const std::string& base, const std::string& ours, const std::string& theirs) {
  const auto merge = merge::merge_markdown(base, ours, theirs);
  REQUIRE(merge);
  return merge->is_clean() ? merge->text() : "(conflict)";
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("sections: what both brought in stands there once, ours first, and nothing else", "[sync-engine][property]") {
  const std::uint64_t first = ws::test::number_from_environment("WS_SEED", 1);
  const std::uint64_t cases = ws::test::number_from_environment("WS_CASES", 4000);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    RuleStory story(seed);
    const Parts before = {"# T\n\ntext\n", "## Z\n\nlast\n"};
    const bool at_end = story.one_in(2);
    const auto with = [&](const Parts& news) {
      Parts parts = before;
      parts.insert(at_end ? parts.end() : parts.begin() + 1, news.begin(), news.end());
      return joined(parts);
    };
    const Parts by_us = story.sections("ours");
    const Parts by_them = story.sections("theirs");
    Parts together = by_us;
    together.insert(together.end(), by_them.begin(), by_them.end());
    Parts mirrored = by_them;
    mirrored.insert(mirrored.end(), by_us.begin(), by_us.end());
    CAPTURE(seed, with(by_us), with(by_them));
    REQUIRE(merged_rule(joined(before), with(by_us), with(by_them)) == with(together));
    REQUIRE(merged_rule(joined(before), with(by_them), with(by_us)) == with(mirrored));
  }
}

TEST_CASE("blanks: a side that changed blanks alone takes nothing from the other's text", "[sync-engine][property]") {
  const std::uint64_t first = ws::test::number_from_environment("WS_SEED", 1);
  const std::uint64_t cases = ws::test::number_from_environment("WS_CASES", 4000);
  std::size_t clean = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    RuleStory story(seed);
    std::string base;
    std::string blanks;
    std::string text;
    std::string wanted;
    for (std::size_t i = story.below(5); i < 6; ++i) {
      const std::string line = story.one_in(2) ? "# " + story.word() : story.word() + " " + story.word();
      const std::string end = story.one_in(3) ? " \n\n" : "\n\n";
      const bool is_trimmed = story.one_in(2);
      const std::string written = story.one_in(3) ? story.word() + " anew" : line;
      base += line + end;
      blanks += line + (is_trimmed ? "\n\n" : end);
      text += written + end;
      wanted += written + (is_trimmed && written == line ? "\n\n" : end);
    }
    CAPTURE(seed, base, blanks, text);
    const std::string result = merged_rule(base, blanks, text);
    REQUIRE(result == merged_rule(base, text, blanks));
    REQUIRE(result == wanted);
    clean += result == "(conflict)" ? 0 : 1;
  }
  CHECK(clean == cases);
}

TEST_CASE("entries: one that both brought to different lists is a conflict, any other is not",
          "[sync-engine][property]") {
  const std::uint64_t first = ws::test::number_from_environment("WS_SEED", 1);
  const std::uint64_t cases = ws::test::number_from_environment("WS_CASES", 4000);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    RuleStory story(seed);
    const std::size_t lists = 2 + story.below(4);
    const std::size_t by_us = story.below(lists);
    const std::size_t by_them = (by_us + 1 + story.below(lists - 1)) % lists;
    const bool is_one = story.one_in(2);
    const auto text = [&](std::size_t changed, const std::string& entry) {
      std::string all;
      for (std::size_t i = 0; i < lists; ++i) {
        const std::string name = std::to_string(i);
        all += "## L" + name + "\n\n- [e" + name + "](https://e" + name + ".example)\n" + (i == changed ? entry : "") +
               "\n";
      }
      return all;
    };
    const std::string ours = text(by_us, "- [one](https://one.example/) " + story.word() + "\n");
    const std::string other = is_one ? "one" : "two";
    const std::string theirs = text(by_them, "- [" + story.word() + "](http://www." + other + ".example) more\n");
    CAPTURE(seed, ours, theirs);
    const std::string result = merged_rule(text(lists, ""), ours, theirs);
    REQUIRE((result == "(conflict)") == is_one);
    REQUIRE((merged_rule(text(lists, ""), theirs, ours) == "(conflict)") == is_one);
    if (!is_one) REQUIRE(count_of(result, "one.example") + count_of(result, "two.example") == 2);
  }
}

TEST_CASE("front matter: it never stands twice in a clean result", "[sync-engine][property]") {
  const std::uint64_t first = ws::test::number_from_environment("WS_SEED", 1);
  const std::uint64_t cases = ws::test::number_from_environment("WS_CASES", 4000);
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    RuleStory story(seed);
    const auto version = [&] {
      std::string above;
      if (story.one_in(3)) above = story.one_in(2) ? "\n" : "# Top\n";
      const std::string matter =
          story.one_in(4) ? "" : "---\ntitle: " + std::string(story.one_in(2) ? "T" : "U") + "\n---\n";
      return above + matter + "body" + (story.one_in(3) ? " " + story.word() : "") + "\n\nlast" +
             (story.one_in(3) ? " " + story.word() : "") + "\n";
    };
    const std::string base = version();
    const std::string ours = version();
    const std::string theirs = version();
    CAPTURE(seed, base, ours, theirs);
    const std::string result = merged_rule(base, ours, theirs);
    REQUIRE(count_of(result, "title:") <= 1);
    REQUIRE((result == "(conflict)") == (merged_rule(base, theirs, ours) == "(conflict)"));
  }
}

}  // namespace ws::sync
