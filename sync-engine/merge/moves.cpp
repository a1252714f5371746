#include "sync-engine/merge/moves.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "sync-engine/git/changed_lines.hpp"
#include "sync-engine/merge/three_way.hpp"

namespace ws::sync::merge {
namespace {

using Lines = std::vector<std::string_view>;
using Changes = std::vector<git::ChangedLines>;

/// A block with fewer bytes that stand at another place too is no proof of a move.
constexpr std::size_t least_block_bytes = 16;
/// Each costs two comparisons of the whole texts; a text with more moves than that was written anew.
constexpr int most_moves = 50;

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

auto at(const Lines& lines, std::size_t place) { return lines.begin() + static_cast<std::ptrdiff_t>(place); }

/// Without blank lines at its ends.
Span trimmed_span(const Lines& lines, Span span) {
  while (!span.empty() && lines[span.begin] == "\n") ++span.begin;
  while (!span.empty() && lines[span.end - 1] == "\n") --span.end;
  return span;
}

/// Every place in `span` of `lines` where the block stands.
std::vector<Span> places_of(const Lines& lines, Span span, const Lines& base, Span block) {
  std::vector<Span> places;
  for (std::size_t i = span.begin; i + block.size() <= span.end; ++i) {
    if (std::equal(at(base, block.begin), at(base, block.end), at(lines, i))) places.push_back({i, i + block.size()});
  }
  return places;
}

/// Where the other side has the block, if each of its changes lies wholly inside or wholly outside.
std::optional<Span> same_block(const Changes& changes, Span block) {
  std::ptrdiff_t before = 0;
  std::ptrdiff_t inside = 0;
  for (const git::ChangedLines& change : changes) {
    const auto growth = static_cast<std::ptrdiff_t>(change.after_end - change.after_begin) -
                        static_cast<std::ptrdiff_t>(change.before_end - change.before_begin);
    const bool is_empty = change.before_begin == change.before_end;
    const bool is_before = is_empty ? change.before_begin < block.begin : change.before_end <= block.begin;
    const bool is_behind = is_empty ? change.before_begin > block.end : change.before_begin >= block.end;
    const bool is_inside = is_empty ? change.before_begin > block.begin && change.before_begin < block.end
                                    : change.before_begin >= block.begin && change.before_end <= block.end;
    if (is_behind) break;
    if (!is_before && !is_inside) return std::nullopt;
    (is_before ? before : inside) += growth;
  }
  const auto begin = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(block.begin) + before);
  return Span{begin, static_cast<std::size_t>(static_cast<std::ptrdiff_t>(begin + block.size()) + inside)};
}

void replace(Lines& lines, Span span, const Lines& with, Span taken) {
  const Lines fresh(at(with, taken.begin), at(with, taken.end));
  lines.erase(at(lines, span.begin), at(lines, span.end));
  lines.insert(at(lines, span.begin), fresh.begin(), fresh.end());
}

/// Lets the editor's changes of one moved block follow the mover; false where there is no such block.
bool follow_one(const Lines& base, Lines& mover, const Changes& moves, Lines& editor, const Changes& edits) {
  for (const git::ChangedLines& left : moves) {
    const Span block = trimmed_span(base, {left.before_begin, left.before_end});
    if (block.empty() || joined({at(base, block.begin), at(base, block.end)}).size() < least_block_bytes) continue;
    if (places_of(base, {0, base.size()}, base, block).size() != 1) continue;
    const std::vector<Span> now = places_of(mover, {0, mover.size()}, base, block);
    const auto edited = same_block(edits, block);
    if (now.size() != 1 || !edited) continue;
    if (std::equal(at(base, block.begin), at(base, block.end), at(editor, edited->begin), at(editor, edited->end)))
      continue;
    replace(mover, now.front(), editor, *edited);
    replace(editor, *edited, base, block);
    return true;
  }
  return false;
}

Result<void> follow_all(const Lines& base, std::string_view base_text, Lines& mover, Lines& editor) {
  for (int moved = 0; moved < most_moves; ++moved) {
    WS_LET(const Changes moves, git::changed_lines(base_text, joined(mover)));
    WS_LET(const Changes edits, git::changed_lines(base_text, joined(editor)));
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
