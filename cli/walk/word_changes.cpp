#include "cli/walk/word_changes.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>

#include "sync-engine/merge/three_way.hpp"

namespace ws::cli::walk {
namespace {

constexpr std::size_t max_diff_bytes = 64U << 10U;

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Words, runs of blanks, and each other character alone; newlines too.
std::vector<ByteRange> words_and_rest(std::string_view text) {
  std::vector<ByteRange> ranges;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (is_letter_or_digit(text[at])) {
      while (end < text.size() && is_letter_or_digit(text[end])) ++end;
    } else if (text[at] == ' ') {
      while (end < text.size() && text[end] == ' ') ++end;
    }
    ranges.push_back({at, end});
    at = end;
  }
  return ranges;
}

class Numbers {
 public:
  sync::merge::Sequence of(std::string_view text, const std::vector<ByteRange>& ranges) {
    sync::merge::Sequence sequence;
    for (const ByteRange& range : ranges) {
      const std::string key(text.substr(range.begin, range.end - range.begin));
      sequence.keys.push_back(known_.emplace(key, static_cast<std::uint32_t>(known_.size())).first->second);
    }
    return sequence;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> known_;
};

bool is_blank(std::string_view text) { return text.find_first_not_of(" \n") == std::string_view::npos; }

ByteRange without_blanks(std::string_view text, ByteRange range) {
  while (range.begin < range.end && is_blank(text.substr(range.begin, 1))) ++range.begin;
  while (range.begin < range.end && is_blank(text.substr(range.end - 1, 1))) --range.end;
  return range;
}

}  // namespace

std::vector<ByteRange> changed_words(std::string_view before, std::string_view after) {
  if (before.empty() || before.size() > max_diff_bytes || after.size() > max_diff_bytes) return {};
  const auto old_words = words_and_rest(before);
  const auto new_words = words_and_rest(after);
  Numbers numbers;
  const auto was = numbers.of(before, old_words);
  const auto is = numbers.of(after, new_words);
  const auto regions = sync::merge::three_way(was, is, was, std::vector<bool>(was.keys.size(), true));
  if (!regions) return {};
  std::vector<ByteRange> changed;
  bool has_common_word = false;
  for (const sync::merge::Region& region : *regions) {
    if (region.ours.empty()) continue;
    const ByteRange whole{new_words[region.ours.begin].begin, new_words[region.ours.end - 1].end};
    const ByteRange range = without_blanks(after, whole);
    const std::string_view text = after.substr(range.begin, range.end - range.begin);
    if (region.kind == sync::merge::Region::Kind::same) {
      has_common_word = has_common_word || !is_blank(text);
    } else if (!text.empty() && !changed.empty() &&
               is_blank(after.substr(changed.back().end, range.begin - changed.back().end))) {
      changed.back().end = range.end;
    } else if (!text.empty()) {
      changed.push_back(range);
    }
  }
  return has_common_word ? changed : std::vector<ByteRange>{};
}

}  // namespace ws::cli::walk
