#include "sync-engine/merge/body.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "api-client/base/ascii.hpp"
#include "sync-engine/git/changed_lines.hpp"
#include "sync-engine/merge/inside_lines.hpp"
#include "sync-engine/merge/list_entries.hpp"
#include "sync-engine/merge/markdown_lines.hpp"
#include "sync-engine/merge/three_way.hpp"

namespace ws::sync::merge {
namespace {

struct FollowedMoves {
  std::string ours = {};
  std::string theirs = {};
};

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

/// Both sides, where an edit inside a block that the other side moved is applied at the block's new place, and taken
/// out at the old one: there the block is as in the base. Moved are whole lines that are gone from one place and stand
/// unchanged, and only once, at another; an edit that reaches beyond the block's ends stays where it is. Line ends are
/// LF. Fails with `internal`.
Result<FollowedMoves> follow_moves(std::string_view base, std::string_view ours, std::string_view theirs) {
  WS_LET(auto ours_first, follow(base, ours, theirs));
  WS_LET(auto theirs_first, follow(base, theirs, ours));
  // Both moved, and one move lies in the way of the other: nothing follows, and the lines collide.
  if (ours_first.first != theirs_first.second || ours_first.second != theirs_first.first) {
    return FollowedMoves{.ours = std::string(ours), .theirs = std::string(theirs)};
  }
  return FollowedMoves{.ours = std::move(ours_first.first), .theirs = std::move(ours_first.second)};
}

using LineKind = MarkdownLine::Kind;

struct BodyText {
  std::vector<MarkdownLine> lines = {};
  Sequence sequence = {};

  /// Whole lines, with their newlines.
  std::string_view text(Span span) const {
    if (span.empty()) return {};
    const char* begin = lines[span.begin].text.data();
    const std::string_view last = lines[span.end - 1].text;
    return {begin, static_cast<std::size_t>(last.data() + last.size() + 1 - begin)};
  }
};

/// Equal lines get equal numbers, whichever text they stand in.
class LineNumbers {
 public:
  explicit LineNumbers(Ordinals ordinals) : ordinals_(ordinals) {}

  BodyText read(std::string_view text) {
    BodyText body{.lines = markdown_lines(text)};
    bool after_blank = true;
    for (const MarkdownLine& line : body.lines) {
      const auto next = static_cast<std::uint32_t>(known_.size());
      body.sequence.keys.push_back(known_.try_emplace(key_of(line), next).first->second);
      const bool is_blank = line.kind == LineKind::blank;
      body.sequence.starts.push_back(after_blank && !is_blank);
      after_blank = is_blank;
    }
    body.sequence.starts.push_back(true);
    return body;
  }

 private:
  std::string key_of(const MarkdownLine& line) const {
    std::string key(line.text);
    if (line.kind != LineKind::item || ordinals_ == Ordinals::kept) return key;
    const ItemMark mark = item_mark(line.text);
    if (!mark.ordinal.empty()) key.replace(mark.indent, mark.ordinal.size(), "1");
    return key;
  }

  Ordinals ordinals_;
  std::map<std::string, std::uint32_t> known_ = {};
};

Piece::Kind piece_kind(Region::Kind kind) {
  switch (kind) {
    case Region::Kind::same: return Piece::Kind::same;
    case Region::Kind::ours: return Piece::Kind::ours;
    case Region::Kind::theirs: return Piece::Kind::theirs;
    case Region::Kind::both: return Piece::Kind::both;
    case Region::Kind::conflict: break;
  }
  return Piece::Kind::conflict;
}

/// A block of some words that both sides brought in at different places is one block meant twice; a line that both took
/// to different places is one moved twice: both places are for a person. A line that two different blocks share, as
/// texts made after one pattern have them, is no reason for doubt.
class Doubles {
 public:
  Doubles(std::vector<Region>& regions, const BodyText& base, const BodyText& ours, const BodyText& theirs)
      : regions_(regions), base_(base), ours_(ours), theirs_(theirs) {}

  void doubt() {
    doubt_equal([](const BodyText& text, Span span, const auto& take) {
      span = trimmed(text, span);
      bool is_telling = false;
      for (std::size_t i = span.begin; i < span.end; ++i) is_telling = is_telling || telling(text, i);
      if (is_telling) take(std::string(text.text(span)));
    });
    const Counts in_base = counts(base_);
    const Counts in_ours = counts(ours_);
    const Counts in_theirs = counts(theirs_);
    const auto at_most = [](const Counts& side, const Counts& base, std::uint32_t key) {
      return key < base.size() && base[key] > 0 && (key >= side.size() || side[key] <= base[key]);
    };
    doubt_equal([&](const BodyText& text, Span span, const auto& take) {
      for (std::size_t i = span.begin; i < span.end; ++i) {
        const std::uint32_t key = text.sequence.keys[i];
        const bool is_moved_twice = at_most(in_ours, in_base, key) && at_most(in_theirs, in_base, key);
        if (is_moved_twice && telling(text, i)) take(std::string(text.lines[i].text));
      }
    });
  }

 private:
  using Counts = std::vector<std::size_t>;  ///< how often each line stands in a text, by its number

  static constexpr std::size_t telling_bytes = 16;
  static bool telling(const BodyText& text, std::size_t line) { return text.lines[line].text.size() >= telling_bytes; }

  static Span trimmed(const BodyText& text, Span span) {
    while (!span.empty() && text.lines[span.begin].kind == LineKind::blank) ++span.begin;
    while (!span.empty() && text.lines[span.end - 1].kind == LineKind::blank) --span.end;
    return span;
  }

  static Counts counts(const BodyText& text) {
    Counts counts;
    for (const std::uint32_t key : text.sequence.keys) {
      if (key >= counts.size()) counts.resize(key + 1, 0);
      ++counts[key];
    }
    return counts;
  }

  /// Regions of the two sides for which `name` takes an equal text are conflicts.
  template <class Name>
  void doubt_equal(const Name& name) {
    std::map<std::string, std::vector<Region*>> by_us;
    std::map<std::string, std::vector<Region*>> by_them;
    for (Region& region : regions_) {
      const auto into = [&region](auto& named) {
        return [&](std::string text) { named[std::move(text)].push_back(&region); };
      };
      if (region.kind == Region::Kind::ours) name(ours_, region.ours, into(by_us));
      if (region.kind == Region::Kind::theirs) name(theirs_, region.theirs, into(by_them));
    }
    for (const auto& [text, mine] : by_us) {
      const auto same = by_them.find(text);
      if (same == by_them.end()) continue;
      for (Region* region : mine) region->kind = Region::Kind::conflict;
      for (Region* region : same->second) region->kind = Region::Kind::conflict;
    }
  }

  std::vector<Region>& regions_;
  const BodyText& base_;
  const BodyText& ours_;
  const BodyText& theirs_;
};

/// The entries of lists that begin in a region, without their numbers.
std::set<std::string_view> items_in(const BodyText& text, Span span) {
  std::set<std::string_view> items;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    if (!begins_entry(text.lines[i])) continue;
    const std::string_view line = text.lines[i].text;
    items.insert(trimmed(line.substr(item_mark(line).whole.size()), " \t"));
  }
  return items;
}

/// What both sides brought to one list, in regions of their own, is one place: from the first of these to the last.
class ListsInOne {
 public:
  ListsInOne(const BodyText& base, const BodyText& ours, const BodyText& theirs)
      : base_(base), ours_(ours), theirs_(theirs) {}

  std::vector<Region> join(const std::vector<Region>& regions) {
    for (const Region& region : regions) {
      joined_.push_back(region);
      if (region.kind == Region::Kind::same) {
        if (!is_of_one_list(region.base)) forget();
        continue;
      }
      if (region.kind == Region::Kind::both) continue;
      const Items by_us = brought(ours_, region.ours, region.base);
      const Items by_them = brought(theirs_, region.theirs, region.base);
      const std::size_t here = joined_.size() - 1;
      const std::size_t first = std::min(first_with(by_us, by_them_, here), first_with(by_them, by_us_, here));
      if (first < here) join_from(first);
      for (const std::string_view item : by_us) by_us_.try_emplace(item, first);
      for (const std::string_view item : by_them) by_them_.try_emplace(item, first);
    }
    return std::move(joined_);
  }

 private:
  using Items = std::set<std::string_view>;
  using Places = std::map<std::string_view, std::size_t>;  ///< the region that brought an entry

  void forget() {
    by_us_.clear();
    by_them_.clear();
  }

  bool is_of_one_list(Span span) const {
    for (std::size_t i = span.begin; i < span.end; ++i) {
      const MarkdownLine& line = base_.lines[i];
      const bool hangs = line.text.starts_with(' ') || line.text.starts_with('\t');
      if (line.kind != LineKind::blank && !begins_entry(line) && !hangs) return false;
    }
    return true;
  }

  Items brought(const BodyText& side, Span span, Span before) const {
    Items items = items_in(side, span);
    for (const std::string_view item : items_in(base_, before)) items.erase(item);
    return items;
  }

  static std::size_t first_with(const Items& items, const Places& places, std::size_t here) {
    std::size_t first = here;
    for (const std::string_view item : items) {
      const auto found = places.find(item);
      if (found != places.end()) first = std::min(first, found->second);
    }
    return first;
  }

  void join_from(std::size_t first) {
    const Region last = joined_.back();
    Region& one = joined_[first];
    one = {.kind = Region::Kind::conflict,
           .base = {one.base.begin, last.base.end},
           .ours = {one.ours.begin, last.ours.end},
           .theirs = {one.theirs.begin, last.theirs.end}};
    joined_.resize(first + 1);
    for (Places* places : {&by_us_, &by_them_}) {
      for (auto& [item, place] : *places) place = std::min(place, first);
    }
  }

  const BodyText& base_;
  const BodyText& ours_;
  const BodyText& theirs_;
  std::vector<Region> joined_ = {};
  Places by_us_ = {};
  Places by_them_ = {};
};

}  // namespace

Result<std::vector<Piece>> merge_body(std::string_view base,
                                      std::string_view ours,
                                      std::string_view theirs,
                                      Ordinals ordinals) {
  WS_LET(const FollowedMoves followed, follow_moves(base, ours, theirs));
  LineNumbers numbers(ordinals);
  const BodyText in_base = numbers.read(base);
  const BodyText in_ours = numbers.read(followed.ours);
  const BodyText in_theirs = numbers.read(followed.theirs);
  const std::vector<bool> anchors(in_base.lines.size(), true);
  WS_LET(std::vector<Region> regions, three_way(in_base.sequence, in_ours.sequence, in_theirs.sequence, anchors));
  regions = ListsInOne(in_base, in_ours, in_theirs).join(regions);
  Doubles(regions, in_base, in_ours, in_theirs).doubt();
  ListEntries entries(in_base.lines, in_ours.lines, in_theirs.lines);
  std::vector<Piece> pieces;
  for (const Region& region : regions) {
    Piece piece{.kind = piece_kind(region.kind)};
    if (region.kind != Region::Kind::same) {
      piece.base = in_base.text(region.base);
      piece.ours = in_ours.text(region.ours);
      piece.theirs = in_theirs.text(region.theirs);
    }
    if (region.kind == Region::Kind::conflict) {
      WS_LET(const std::optional<std::string> merged,
             merge_inside_lines(
                 {in_base.lines, region.base}, {in_ours.lines, region.ours}, {in_theirs.lines, region.theirs}));
      const auto of_entries = entries.merge(region.base, region.ours, region.theirs);
      const bool is_sure = merged && !entries.doubts(*merged, of_entries, region.ours, region.theirs);
      const std::optional<std::string> settled = is_sure ? merged : merged && of_entries ? std::nullopt : of_entries;
      if (settled) {
        piece.kind = Piece::Kind::merged;
        piece.text = *settled;
      }
    } else {
      piece.text = region.kind == Region::Kind::theirs ? in_theirs.text(region.theirs) : in_ours.text(region.ours);
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace ws::sync::merge
