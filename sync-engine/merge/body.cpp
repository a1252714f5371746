#include "sync-engine/merge/body.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "api-client/base/ascii.hpp"
#include "sync-engine/merge/context.hpp"
#include "sync-engine/merge/inside_lines.hpp"
#include "sync-engine/merge/list_entries.hpp"
#include "sync-engine/merge/list_reader.hpp"
#include "sync-engine/merge/markdown_lines.hpp"
#include "sync-engine/merge/moves.hpp"
#include "sync-engine/merge/sections.hpp"
#include "sync-engine/merge/three_way.hpp"

namespace ws::sync::merge {
namespace {

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

/// A line without the blanks at its end, which say nothing but where they break a line of a paragraph.
std::string_view told(const std::vector<MarkdownLine>& lines, std::size_t i) {
  const std::string_view text = lines[i].text;
  const bool goes_on = i + 1 < lines.size() && lines[i + 1].kind == LineKind::prose;
  const bool is_broken = goes_on && text.ends_with("  ");
  return lines[i].kind == LineKind::code || is_broken ? text : trimmed_end(text, " \t");
}

/// Equal lines get equal numbers, whichever text they stand in.
class LineNumbers {
 public:
  explicit LineNumbers(Ordinals ordinals) : ordinals_(ordinals) {}

  BodyText read(std::string_view text) {
    BodyText body{.lines = markdown_lines(text)};
    bool after_blank = true;
    for (std::size_t i = 0; i < body.lines.size(); ++i) {
      const MarkdownLine& line = body.lines[i];
      const auto next = static_cast<std::uint32_t>(known_.size());
      body.sequence.keys.push_back(known_.try_emplace(key_of(body.lines, i), next).first->second);
      const bool is_blank = line.kind == LineKind::blank;
      body.sequence.starts.push_back(after_blank && !is_blank);
      after_blank = is_blank;
    }
    body.sequence.starts.push_back(true);
    return body;
  }

 private:
  std::string key_of(const std::vector<MarkdownLine>& lines, std::size_t i) const {
    const MarkdownLine& line = lines[i];
    std::string key(told(lines, i));
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

/// A stretch of lines that all three have, but for blanks at their ends: those of the side that changed them.
void add_same(std::vector<Piece>& pieces,
              const Region& region,
              const BodyText& base,
              const BodyText& ours,
              const BodyText& theirs) {
  const auto blanks = [](const BodyText& text, std::size_t i) {
    return text.lines[i].text.substr(trimmed_end(text.lines[i].text, " \t").size());
  };
  const auto kind_of = [&](std::size_t i) {
    const std::string_view before = blanks(base, region.base.begin + i);
    const std::string_view by_us = blanks(ours, region.ours.begin + i);
    const std::string_view by_them = blanks(theirs, region.theirs.begin + i);
    if (by_us == before) return by_them == before ? Piece::Kind::same : Piece::Kind::theirs;
    if (by_them == before) return Piece::Kind::ours;
    return by_us == by_them ? Piece::Kind::both : Piece::Kind::merged;
  };
  for (std::size_t from = 0; from < region.base.size();) {
    const Piece::Kind kind = kind_of(from);
    std::size_t end = from + 1;
    while (end < region.base.size() && kind != Piece::Kind::merged && kind_of(end) == kind) ++end;
    const auto part = [&](const BodyText& text, Span span) { return text.text({span.begin + from, span.begin + end}); };
    Piece piece{.kind = kind, .text = std::string(part(ours, region.ours))};
    if (kind != Piece::Kind::same) {
      piece.base = part(base, region.base);
      piece.ours = std::exchange(piece.text, {});
      piece.theirs = part(theirs, region.theirs);
      piece.reason = Piece::Reason::blanks;
      const bool takes_theirs =
          kind == Piece::Kind::theirs || (kind == Piece::Kind::merged && piece.theirs.size() < piece.ours.size());
      piece.text = takes_theirs ? piece.theirs : piece.ours;
    }
    pieces.push_back(std::move(piece));
    from = end;
  }
}

struct WrittenLine {
  std::uint32_t key = 0;
  std::size_t line = 0;
  bool is_apart = false;  ///< by a blank line, from the one before
};

/// The lines of a place and its neighbours that are not blank.
std::vector<WrittenLine> written_lines(const BodyText& text, Span span) {
  std::vector<WrittenLine> found;
  bool is_apart = false;
  const std::size_t end = std::min(span.end + 1, text.lines.size());
  for (std::size_t i = span.begin - std::min<std::size_t>(span.begin, 1); i < end; ++i) {
    const bool is_blank = text.lines[i].kind == LineKind::blank;
    if (!is_blank) found.push_back({.key = text.sequence.keys[i], .line = i, .is_apart = is_apart});
    is_apart = is_blank;
  }
  return found;
}

/// Whether a blank line between them says more than how they are set: that a paragraph, code or a table ends.
bool holds_apart(const MarkdownLine& above, const MarkdownLine& below) {
  const auto is_text = [](const MarkdownLine& line) {
    return line.kind == LineKind::prose && heading_level(line) == 0;
  };
  const bool flows = is_text(above) || above.kind == LineKind::item;
  const bool follows = is_text(below) || below.kind == LineKind::rule || below.kind == LineKind::table;
  const auto is_fixed = [](const MarkdownLine& line) { return line.kind == LineKind::code; };
  return (flows && follows) || is_fixed(above) || is_fixed(below) || above.kind == LineKind::table;
}

/// Whether the side changed nothing but blank lines, and none that says more than how lines are set.
bool changes_blanks_alone(const BodyText& base, Span before, const BodyText& side, Span after) {
  const std::vector<WrittenLine> was = written_lines(base, before);
  const std::vector<WrittenLine> is = written_lines(side, after);
  if (!std::ranges::equal(was, is, {}, &WrittenLine::key, &WrittenLine::key)) return false;
  // At the top a rule may be the fence of front matter.
  const bool is_first = before.begin == 0 && !was.empty() && was[0].is_apart != is[0].is_apart;
  if (is_first && side.lines[is[0].line].kind == LineKind::rule) return false;
  for (std::size_t i = 1; i < was.size(); ++i) {
    const bool differs = was[i].is_apart != is[i].is_apart;
    if (differs && holds_apart(side.lines[is[i - 1].line], side.lines[is[i].line])) return false;
  }
  return true;
}

bool has_equal_lines(const BodyText& a, Span in_a, const BodyText& b, Span in_b) {
  const auto at = [](const BodyText& text, std::size_t place) {
    return text.sequence.keys.begin() + static_cast<std::ptrdiff_t>(place);
  };
  return std::equal(at(a, in_a.begin), at(a, in_a.end), at(b, in_b.begin), at(b, in_b.end));
}

/// Where one side changed nothing but blank lines: what the other made. Empty also where a side has what the base has:
/// that conflict is a doubt that was found earlier.
std::optional<std::string> take_text_over_blanks(const Region& region,
                                                 const BodyText& base,
                                                 const BodyText& ours,
                                                 const BodyText& theirs) {
  if (has_equal_lines(base, region.base, ours, region.ours) ||
      has_equal_lines(base, region.base, theirs, region.theirs))
    return std::nullopt;
  const bool by_us = changes_blanks_alone(base, region.base, ours, region.ours);
  const bool by_them = changes_blanks_alone(base, region.base, theirs, region.theirs);
  if (!by_us && !by_them) return std::nullopt;
  const bool takes_ours = by_them && (!by_us || region.ours.size() < region.theirs.size());
  return std::string(takes_ours ? ours.text(region.ours) : theirs.text(region.theirs));
}

/// What entries link to, and how often: of all three texts, and of what was made of them.
struct TargetCount {
  std::size_t base = 0;
  std::size_t ours = 0;
  std::size_t theirs = 0;
  std::size_t made = 0;

  bool is_twice() const { return base == 0 && ours > 0 && theirs > 0 && made > std::max(ours, theirs); }
};

/// An entry about one thing that both sides brought in at different places would stand there twice: these places are
/// conflicts. Counted in the changed places alone: elsewhere all three have the same.
void doubt_entries_twice(std::vector<Piece>& pieces) {
  std::map<std::string, TargetCount> counts;
  std::vector<std::map<std::string, std::size_t>> made(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (piece.kind == Piece::Kind::same) continue;
    for (const auto& [target, count] : count_targets(piece.base)) counts[target].base += count;
    for (const auto& [target, count] : count_targets(piece.ours)) counts[target].ours += count;
    for (const auto& [target, count] : count_targets(piece.theirs)) counts[target].theirs += count;
    made[i] = count_targets(piece.text);
    for (const auto& [target, count] : made[i]) counts[target].made += count;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    Piece& piece = pieces[i];
    const bool is_twice =
        std::ranges::any_of(made[i], [&](const auto& each) { return counts.at(each.first).is_twice(); });
    if (!is_twice) continue;
    piece.kind = Piece::Kind::conflict;
    piece.text.clear();
    piece.reason = Piece::Reason::twice;
  }
}

struct Settled {
  std::optional<std::string> text = {};  ///< empty: a conflict
  Piece::Reason reason = Piece::Reason::collide;
};

/// One place that both sides changed: by words, by entries, by blank lines, by sections, in this order.
Result<Settled> settle(
    const Region& region, const BodyText& base, const BodyText& ours, const BodyText& theirs, ListEntries& entries) {
  using Reason = Piece::Reason;
  if (has_equal_lines(base, region.base, ours, region.ours) ||
      has_equal_lines(base, region.base, theirs, region.theirs))
    return Settled{.reason = Reason::twice};
  WS_LET(std::optional<std::string> by_words,
         merge_inside_lines({base.lines, region.base}, {ours.lines, region.ours}, {theirs.lines, region.theirs}));
  auto by_entries = entries.merge(region.base, region.ours, region.theirs);
  if (by_words && !entries.doubts(*by_words, by_entries, region.ours, region.theirs))
    return Settled{.text = std::move(by_words), .reason = Reason::words};
  if (by_words) return Settled{.reason = Reason::rules_differ};
  if (by_entries) return Settled{.text = std::move(by_entries), .reason = Reason::entries};
  if (auto text = take_text_over_blanks(region, base, ours, theirs))
    return Settled{.text = std::move(text), .reason = Reason::blanks};
  auto of_sections = merge_sections(base.lines, region.base, ours.lines, region.ours, theirs.lines, region.theirs);
  if (of_sections && !entries.doubts(*of_sections, std::nullopt, region.ours, region.theirs))
    return Settled{.text = std::move(of_sections), .reason = Reason::sections};
  return Settled{};
}

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
    if (region.kind == Region::Kind::same) {
      add_same(pieces, region, in_base, in_ours, in_theirs);
      continue;
    }
    Piece piece{.kind = piece_kind(region.kind),
                .base = std::string(in_base.text(region.base)),
                .ours = std::string(in_ours.text(region.ours)),
                .theirs = std::string(in_theirs.text(region.theirs))};
    switch (region.kind) {
      case Region::Kind::conflict: {
        WS_LET(Settled settled, settle(region, in_base, in_ours, in_theirs, entries));
        piece.reason = settled.reason;
        if (!settled.text) break;
        piece.kind = Piece::Kind::merged;
        piece.text = std::move(*settled.text);
        break;
      }
      case Region::Kind::theirs: piece.text = piece.theirs; break;
      case Region::Kind::both: piece.text = std::min(piece.ours, piece.theirs); break;
      case Region::Kind::same:
      case Region::Kind::ours: piece.text = piece.ours; break;
    }
    pieces.push_back(std::move(piece));
  }
  doubt_entries_twice(pieces);
  doubt_lines_out_of_context(pieces, in_base.lines, in_ours.lines, in_theirs.lines);
  return pieces;
}

}  // namespace ws::sync::merge
