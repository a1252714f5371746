// Texts that a merge could take minutes or hours for: each ends, merged or as a conflict.
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sync-engine/merge/merge.hpp"

namespace ws::sync {
namespace {

using merge::merge_markdown;

struct ThreeSides {
  std::string name = {};
  std::string base = {};
  std::string ours = {};
  std::string theirs = {};
};

std::string repeated(std::string_view text, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += text;
  return out;
}

/// `count` times what `make` gives for a number.
template <class Make>
std::string numbered(std::size_t count, Make make) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += make(i);
  return out;
}

ThreeSides keys(std::size_t count) {
  const auto text = [&](const char* first, const char* last) {
    return "---\n" +
           numbered(count,
                    [&](std::size_t i) {
                      const char* value = i % 2 == 0 ? first : last;
                      return "key" + std::to_string(i) + ": " + value + "\n";
                    }) +
           "---\ntext\n";
  };
  return {"keys of front matter", text("a", "a"), text("b", "a"), text("a", "c")};
}

ThreeSides new_keys(std::size_t count) {
  const auto text = [&](const char* prefix) {
    return "---\ntitle: x\n" + numbered(count, [&](std::size_t i) { return prefix + std::to_string(i) + ": 1\n"; }) +
           "---\n";
  };
  return {"new keys", "---\ntitle: x\n---\n", text("a"), text("b")};
}

ThreeSides words(const char* name, std::size_t count, std::size_t every) {
  const auto text = [&](const char* mark, std::size_t offset) {
    return numbered(
               count,
               [&](std::size_t i) { return "w" + std::to_string(i % 997) + (i % every == offset ? mark : "") + " "; }) +
           "\n";
  };
  return {name, text("", 0), text("x", 0), text("y", every > 1 ? 1 : 0)};
}

ThreeSides shuffled_words(std::size_t count, std::size_t kinds, const char* separator) {
  std::mt19937 random(7);
  const auto text = [&] {
    return numbered(count, [&](std::size_t) { return "w" + std::to_string(random() % kinds) + separator; }) + "\n";
  };
  return {"shuffled", text(), text(), text()};
}

ThreeSides moved_blocks(std::size_t count) {
  std::string base;
  std::string ours;
  std::string theirs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string one = "The paragraph of number " + std::to_string(i) + "\n\n";
    const std::string other = "Another paragraph, number " + std::to_string(i) + "\n\n";
    base += one + other;
    ours += other + one;
    theirs += one + "Another paragraph by us, number " + std::to_string(i) + "\n\n";
  }
  return {"moved blocks", base, ours, theirs};
}

/// The same token again and again, another one put in by each side.
ThreeSides tokens(std::string_view token, std::size_t bytes) {
  const std::string half = repeated(token, bytes / 2);
  return {std::string(token),
          half + "a b c d e f g" + half,
          half + "a x b c d e f g" + half,
          half + "a b c d e y g" + half};
}

double seconds_of(const ThreeSides& one) {
  const auto start = std::chrono::steady_clock::now();
  REQUIRE(merge_markdown(one.base, one.ours, one.theirs));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("merge: texts made to take long end within seconds", "[sync-engine]") {
  std::vector<ThreeSides> all = {keys(5000),
                                 new_keys(3000),
                                 words("every word changed", 100'000, 1),
                                 words("every second word changed", 50'000, 2),
                                 words("every hundredth word changed", 50'000, 100),
                                 shuffled_words(50'000, 3, " "),
                                 shuffled_words(50'000, 3, "\n"),
                                 shuffled_words(50'000, 5000, "\n"),
                                 moved_blocks(5'000)};
  for (const ThreeSides& one : all) {
    INFO(one.name);
    CHECK(seconds_of(one) < 10);
  }
}

TEST_CASE("merge: any token of Markdown many thousand times takes no longer than words", "[sync-engine]") {
  for (const char* token :
       {"`",  "``a`",  "[[",      "](",    "<",    "[",    "- ",    "1. ",     "- [ ] ",  "> ",    "#",
        "|",  "| a ",  "|-",      "$$",    "* ",   "~~~",  "_",     "\\",      "http://", "- x\n", "1. x\n",
        "\n", "```\n", "| a |\n", "|-|\n", "<b\n", "$$\n", "---\n", "    x\n", "a: b\n"}) {
    INFO(token);
    CHECK(seconds_of(tokens(token, 30'000)) < 10);
  }
}

}  // namespace ws::sync
