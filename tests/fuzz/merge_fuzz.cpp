// The laws of the merge (I13) as an oracle: a base made of pieces of Markdown, and two lists of edits of it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "sync-engine/merge/merge.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/inserted_words.hpp"
#include "tests/support/sorted_lines.hpp"

namespace {

constexpr std::string_view pieces[] = {"rope ",
                                       "boat",
                                       "sea ",
                                       "calm. ",
                                       "\n",
                                       "\n",
                                       "\n\n",
                                       "- ",
                                       "1. ",
                                       "2. ",
                                       "- [ ] ",
                                       "[x] ",
                                       "| a |",
                                       "|---|\n",
                                       "```\n",
                                       "---\n",
                                       "a: ",
                                       "b: 1\n",
                                       "# ",
                                       "> ",
                                       "**",
                                       "`x`",
                                       "  ",
                                       "    ",
                                       "\r\n",
                                       "[l](u) ",
                                       "$$\n",
                                       "<p>",
                                       "the old rope lies on the deck of the boat\n",
                                       "n1 ",
                                       "n2 ",
                                       "n3\n"};
constexpr std::uint8_t end_of_part = 0xFF;

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : next_(data), end_(data + size) {}

  bool ended() {
    if (next_ == end_) return true;
    if (*next_ != end_of_part) return false;
    ++next_;
    return true;
  }
  std::size_t number() { return next_ == end_ ? 0 : *next_++; }
  std::string_view piece() { return pieces[number() % std::size(pieces)]; }

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

std::string joined(const std::vector<std::string_view>& parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string edited(Input& input, std::vector<std::string_view> parts) {
  while (!input.ended()) {
    const std::size_t what = input.number();
    const std::size_t at = parts.empty() ? 0 : input.number() % parts.size();
    const auto place = parts.begin() + static_cast<std::ptrdiff_t>(at);
    if (parts.empty() || what % 4 == 0) {
      parts.insert(place, input.piece());
    } else if (what % 4 == 1) {
      parts.erase(place);
    } else if (what % 4 == 2) {
      *place = input.piece();
    } else {
      std::rotate(parts.begin(), place, parts.end());
    }
  }
  return joined(parts);
}

void demand(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", law);
  std::abort();
}

}  // namespace

void ws_fuzz_one(std::string_view bytes) {
  using ws::sync::merge::merge_markdown;
  bytes = bytes.substr(0, 4096);  // the edits below take the square of it
  Input input(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  std::vector<std::string_view> parts;
  while (!input.ended()) parts.push_back(input.piece());
  const std::string base = joined(parts);
  const std::string ours = edited(input, parts);
  const std::string theirs = edited(input, parts);
  demand(merge_markdown(base, ours, base)->text() == ours, "merge(b,x,b) = x");
  demand(merge_markdown(base, base, theirs)->text() == theirs, "merge(b,b,x) = x");
  const auto one = merge_markdown(base, ours, theirs);
  const auto other = merge_markdown(base, theirs, ours);
  demand(one->is_clean() == other->is_clean(), "clean from both sides or from none");
  if (!one->is_clean()) return;
  const std::string merged = one->text();
  demand(ws::test::sorted_lines(merged) == ws::test::sorted_lines(other->text()), "merge(b,x,y) = merge(b,y,x)");
  demand(ws::test::missing_words(base, ours, merged).empty(), "what ours inserted is there");
  demand(ws::test::missing_words(base, theirs, merged).empty(), "what theirs inserted is there");
}
