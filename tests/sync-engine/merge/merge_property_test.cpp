// The laws of the merge (I13) on random texts and random edits of both sides. A failure prints its seed: `WS_SEED`
// repeats it, `WS_CASES` says how many.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sync-engine/merge/merge.hpp"
#include "tests/support/inserted_words.hpp"
#include "tests/support/sorted_lines.hpp"

namespace ws::sync {
namespace {

using merge::Merge;
using merge::merge_markdown;

using TextLines = std::vector<std::string>;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

/// Texts of few words, so that equal lines, equal edits and collisions are common.
class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  TextLines text() {
    TextLines lines;
    if (one_in(3)) {
      lines = {"---", "title: " + word(), "tags: [" + word() + ", " + word() + "]", "draft: " + word(), "---"};
    }
    for (std::size_t blocks = below(6); blocks > 0; --blocks) {
      const TextLines more = block();
      lines.insert(lines.end(), more.begin(), more.end());
      lines.emplace_back();
    }
    return lines;
  }

  TextLines edited(TextLines lines) {
    for (std::size_t edits = below(4); edits > 0; --edits) edit(lines);
    return lines;
  }

  std::string joined(const TextLines& lines) {
    const std::string end = one_in(12) ? "\r\n" : "\n";
    std::string out;
    for (const std::string& line : lines) out += line + end;
    if (one_in(12) && !out.empty()) out.erase(out.size() - end.size());
    return out;
  }

 private:
  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  std::string word() {
    static const std::vector<std::string> words = {
        "rope", "boat", "sea", "oil", "tide", "Mara", "seven", "old", "calm"};
    return words[below(words.size())];
  }
  std::string fresh_word() { return "n" + std::to_string(below(6)); }

  std::string sentence(std::size_t length) {
    std::string out = word();
    for (std::size_t i = 1; i < length; ++i) out += (one_in(8) ? ". " : " ") + word();
    return out + ".";
  }

  TextLines block() {
    switch (below(6)) {
      case 0: return {"## " + sentence(3)};
      case 1: return {"- " + sentence(3), "- [ ] " + sentence(4), "- " + word(), "  - " + word()};
      case 2: return {"1. " + sentence(3), "2. " + word(), "3. " + sentence(2)};
      case 3: return {"| " + word() + " | " + word() + " |", "|---|---|", "| " + word() + " | " + word() + " |"};
      case 4: return {"```", sentence(3), word(), "```"};
      default: return {sentence(8), sentence(6)};
    }
  }

  void edit(TextLines& lines) {
    if (lines.empty()) {
      lines.push_back(sentence(3));
      return;
    }
    const std::size_t at = below(lines.size());
    const auto place = lines.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(7)) {
      case 0: lines.insert(place, one_in(2) ? "- " + fresh_word() : sentence(3) + " " + fresh_word()); return;
      case 1: lines.erase(place); return;
      case 2: std::rotate(lines.begin(), place, lines.end()); return;
      case 3:
        if (place->find("[ ]") != std::string::npos) place->replace(place->find("[ ]"), 3, "[x]");
        return;
      default: change_word(*place);
    }
  }

  void change_word(std::string& line) {
    const std::size_t from = line.find_first_of("abcdefghijklmnopqrstuvwxyz", below(line.size() + 1));
    if (from == std::string::npos) {
      line += fresh_word();
      return;
    }
    const std::size_t end = std::min(line.find_first_not_of("abcdefghijklmnopqrstuvwxyz", from), line.size());
    line.replace(from, end - from, one_in(4) ? "" : fresh_word());
  }

  std::mt19937_64 random_;
};

Merge merged(const std::string& base, const std::string& ours, const std::string& theirs) {
  auto merge = merge_markdown(base, ours, theirs);
  REQUIRE(merge);
  return std::move(*merge);
}

}  // namespace

TEST_CASE("merge: the laws hold on random texts and edits", "[sync-engine][property]") {
  const std::uint64_t first = from_environment("WS_SEED", 1);
  const std::uint64_t cases = from_environment("WS_CASES", 4000);
  std::size_t clean = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Writer writer(seed);
    const TextLines lines = writer.text();
    const std::string base = writer.joined(lines);
    const std::string ours = writer.joined(writer.edited(lines));
    const std::string theirs = writer.joined(writer.edited(lines));
    CAPTURE(seed, base, ours, theirs);
    REQUIRE(merged(base, ours, base).text() == ours);
    REQUIRE(merged(base, base, theirs).text() == theirs);
    REQUIRE(merged(base, ours, ours).text() == ours);
    const Merge one = merged(base, ours, theirs);
    const Merge other = merged(base, theirs, ours);
    REQUIRE(one.is_clean() == other.is_clean());
    if (!one.is_clean()) continue;
    ++clean;
    REQUIRE(ws::test::sorted_lines(one.text()) == ws::test::sorted_lines(other.text()));
    REQUIRE(ws::test::missing_words(base, ours, one.text()) == "");
    REQUIRE(ws::test::missing_words(base, theirs, one.text()) == "");
  }
  CHECK(clean > cases / 4);
}

}  // namespace ws::sync
