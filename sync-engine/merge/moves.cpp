#include "sync-engine/merge/moves.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sync-engine/git/changed_lines.hpp"
#include "sync-engine/merge/three_way.hpp"

namespace ws::sync::merge {
namespace {

using Lines = std::vector<std::string_view>;
using Changes = std::vector<git::ChangedLines>;

/// A block with fewer bytes that stand at another place too is no proof of a move.
constexpr std::size_t min_block_bytes = 16;
/// Each costs two comparisons of the whole texts; a text with more moves than that was written anew.
constexpr std::size_t max_moves = 50;
/// Of all comparisons for the moves of one text together: longer texts have fewer moves followed.
constexpr std::size_t max_compared_bytes = std::size_t{32} << 20U;
/// A block whose every line stands at more places than this is not looked for.
constexpr std::size_t max_places = 32;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n') + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string_view line : lines) text += line;
  return text;
}

bool is_telling(const Lines& lines, Span block) {
  std::size_t bytes = 0;
  for (std::size_t i = block.begin; i < block.end && bytes < min_block_bytes; ++i) bytes += lines[i].size();
  return bytes >= min_block_bytes;
}

auto at(const Lines& lines, std::size_t place) { return lines.begin() + static_cast<std::ptrdiff_t>(place); }

/// Without blank lines at its ends.
Span trimmed_span(const Lines& lines, Span span) {
  while (!span.empty() && lines[span.begin] == "\n") ++span.begin;
  while (!span.empty() && lines[span.end - 1] == "\n") --span.end;
  return span;
}

/// Where each line of a text stands.
class LinePlaces {
 public:
  explicit LinePlaces(const Lines& lines) : lines_(lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) places_[lines[i]].push_back(i);
  }

  /// The one place where the block stands; empty where there is none or more, or its lines stand nearly everywhere.
  std::optional<Span> only_place(const Lines& base, Span block) const {
    const std::vector<std::size_t>* rarest = nullptr;
    std::size_t offset = 0;
    for (std::size_t i = block.begin; i < block.end; ++i) {
      const auto found = places_.find(base[i]);
      if (found == places_.end()) return std::nullopt;
      if (rarest != nullptr && found->second.size() >= rarest->size()) continue;
      rarest = &found->second;
      offset = i - block.begin;
    }
    if (rarest == nullptr || rarest->size() > max_places) return std::nullopt;
    std::optional<Span> only;
    for (const std::size_t place : *rarest) {
      if (place < offset || place - offset + block.size() > lines_.size()) continue;
      const std::size_t begin = place - offset;
      if (!std::equal(at(base, block.begin), at(base, block.end), at(lines_, begin))) continue;
      if (only) return std::nullopt;
      only = Span{begin, begin + block.size()};
    }
    return only;
  }

 private:
  const Lines& lines_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> places_ = {};
};

std::ptrdiff_t growth(const git::ChangedLines& change) {
  return static_cast<std::ptrdiff_t>(change.after_end - change.after_begin) -
         static_cast<std::ptrdiff_t>(change.before_end - change.before_begin);
}

/// Where the other side has a block of the base.
class OtherSide {
 public:
  explicit OtherSide(const Changes& changes) : changes_(changes), growth_before_(1, 0) {
    for (const git::ChangedLines& change : changes) growth_before_.push_back(growth_before_.back() + growth(change));
  }

  /// Empty unless each change lies wholly inside or wholly outside.
  std::optional<Span> same_block(Span block) const {
    const auto first = std::partition_point(changes_.begin(), changes_.end(), [&](const git::ChangedLines& change) {
      const bool is_empty = change.before_begin == change.before_end;
      return is_empty ? change.before_begin < block.begin : change.before_end <= block.begin;
    });
    const std::ptrdiff_t before = growth_before_[static_cast<std::size_t>(first - changes_.begin())];
    std::ptrdiff_t inside = 0;
    for (auto change = first; change != changes_.end(); ++change) {
      const bool is_empty = change->before_begin == change->before_end;
      const bool is_behind = is_empty ? change->before_begin > block.end : change->before_begin >= block.end;
      const bool is_inside = is_empty ? change->before_begin > block.begin && change->before_begin < block.end
                                      : change->before_begin >= block.begin && change->before_end <= block.end;
      if (is_behind) break;
      if (!is_inside) return std::nullopt;
      inside += growth(*change);
    }
    const auto begin = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(block.begin) + before);
    return Span{begin, static_cast<std::size_t>(static_cast<std::ptrdiff_t>(begin + block.size()) + inside)};
  }

 private:
  const Changes& changes_;
  std::vector<std::ptrdiff_t> growth_before_;  ///< of all changes before the one at this place
};

void replace(Lines& lines, Span span, const Lines& with, Span taken) {
  const Lines fresh(at(with, taken.begin), at(with, taken.end));
  lines.erase(at(lines, span.begin), at(lines, span.end));
  lines.insert(at(lines, span.begin), fresh.begin(), fresh.end());
}

/// Lets the editor's changes of one moved block follow the mover; false where there is no such block.
bool follow_one(const Lines& base, Lines& mover, const Changes& moves, Lines& editor, const Changes& edits) {
  if (edits.empty()) return false;
  const LinePlaces in_base(base);
  const LinePlaces in_mover(mover);
  const OtherSide other(edits);
  for (const git::ChangedLines& left : moves) {
    const Span block = trimmed_span(base, {left.before_begin, left.before_end});
    if (block.empty() || !is_telling(base, block)) continue;
    const auto now = in_mover.only_place(base, block);
    if (!now || !in_base.only_place(base, block)) continue;
    const auto edited = other.same_block(block);
    if (!edited) continue;
    if (std::equal(at(base, block.begin), at(base, block.end), at(editor, edited->begin), at(editor, edited->end)))
      continue;
    replace(mover, *now, editor, *edited);
    replace(editor, *edited, base, block);
    return true;
  }
  return false;
}

Result<void> follow_all(const Lines& base, std::string_view base_text, Lines& mover, Lines& editor) {
  std::size_t compared = 0;
  for (std::size_t moved = 0; moved < max_moves && compared < max_compared_bytes; ++moved) {
    const std::string moved_text = joined(mover);
    const std::string edited_text = joined(editor);
    compared += 2 * base_text.size() + moved_text.size() + edited_text.size();
    WS_LET(const Changes moves, git::changed_lines(base_text, moved_text));
    WS_LET(const Changes edits, git::changed_lines(base_text, edited_text));
    if (!follow_one(base, mover, moves, editor, edits)) break;
  }
  return {};
}

/// First the edits of `second` follow the moves of `first`, then the other way round.
Result<std::pair<std::string, std::string>> follow(std::string_view base,
                                                   std::string_view first,
                                                   std::string_view second) {
  const Lines in_base = lines_of(base);
  Lines in_first = lines_of(first);
  Lines in_second = lines_of(second);
  WS_TRY(follow_all(in_base, base, in_first, in_second));
  const std::string first_text = joined(in_first);
  const std::string second_text = joined(in_second);
  in_first = lines_of(first_text);
  in_second = lines_of(second_text);
  WS_TRY(follow_all(in_base, base, in_second, in_first));
  return std::pair(joined(in_first), joined(in_second));
}

}  // namespace

Result<FollowedMoves> follow_moves(std::string_view base, std::string_view ours, std::string_view theirs) {
  WS_LET(auto ours_first, follow(base, ours, theirs));
  WS_LET(auto theirs_first, follow(base, theirs, ours));
  // Both moved, and one move lies in the way of the other: nothing follows, and the lines collide.
  if (ours_first.first != theirs_first.second || ours_first.second != theirs_first.first) {
    return FollowedMoves{.ours = std::string(ours), .theirs = std::string(theirs)};
  }
  return FollowedMoves{.ours = std::move(ours_first.first), .theirs = std::move(ours_first.second)};
}

}  // namespace ws::sync::merge
