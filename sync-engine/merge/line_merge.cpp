#include "sync-engine/merge/line_merge.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sync-engine/merge/three_way.hpp"

namespace ws::sync::merge {
namespace {

using KnownLines = std::unordered_map<std::string_view, std::uint32_t>;

struct WholeLines {
  std::vector<std::string_view> texts = {};  ///< with their newlines
  Sequence sequence = {};

  std::string_view text(Span span) const {
    if (span.empty()) return {};
    const char* const begin = texts[span.begin].data();
    const std::string_view last = texts[span.end - 1];
    return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
  }
};

WholeLines number_lines(std::string_view text, KnownLines& known) {
  WholeLines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    const auto next = static_cast<std::uint32_t>(known.size());
    lines.texts.push_back(line);
    lines.sequence.keys.push_back(known.try_emplace(line, next).first->second);
    text.remove_prefix(end);
  }
  return lines;
}

}  // namespace

Result<std::optional<std::string>> merge_lines(std::string_view base, std::string_view ours, std::string_view theirs) {
  using Merged = std::optional<std::string>;
  if (ours == theirs || theirs == base) return Merged(ours);
  if (ours == base) return Merged(theirs);
  KnownLines known;
  const WholeLines in_base = number_lines(base, known);
  const WholeLines in_ours = number_lines(ours, known);
  const WholeLines in_theirs = number_lines(theirs, known);
  const std::vector<bool> anchors(in_base.texts.size(), true);
  WS_LET(const std::vector<Region> regions, three_way(in_base.sequence, in_ours.sequence, in_theirs.sequence, anchors));
  std::string merged;
  for (const Region& region : regions) {
    if (region.kind == Region::Kind::conflict) return Merged();
    merged += region.kind == Region::Kind::theirs ? in_theirs.text(region.theirs) : in_ours.text(region.ours);
  }
  return Merged(std::move(merged));
}

}  // namespace ws::sync::merge
