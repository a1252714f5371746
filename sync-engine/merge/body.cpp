#include "sync-engine/merge/body.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sync-engine/merge/inside_lines.hpp"
#include "sync-engine/merge/markdown_lines.hpp"
#include "sync-engine/merge/moves.hpp"
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

/// Equal lines get equal numbers, whichever text they stand in.
class LineNumbers {
 public:
  BodyText read(std::string_view text) {
    BodyText body{.lines = markdown_lines(text)};
    bool after_blank = true;
    for (const MarkdownLine& line : body.lines) {
      const auto next = static_cast<std::uint32_t>(known_.size());
      body.sequence.keys.push_back(known_.try_emplace(line.text, next).first->second);
      const bool is_blank = line.kind == LineKind::blank;
      body.sequence.starts.push_back(after_blank && !is_blank);
      after_blank = is_blank;
    }
    body.sequence.starts.push_back(true);
    return body;
  }

 private:
  std::map<std::string_view, std::uint32_t> known_ = {};
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

}  // namespace

Result<std::vector<Piece>> merge_body(std::string_view base, std::string_view ours, std::string_view theirs) {
  WS_LET(const FollowedMoves followed, follow_moves(base, ours, theirs));
  LineNumbers numbers;
  const BodyText in_base = numbers.read(base);
  const BodyText in_ours = numbers.read(followed.ours);
  const BodyText in_theirs = numbers.read(followed.theirs);
  const std::vector<bool> anchors(in_base.lines.size(), true);
  WS_LET(std::vector<Region> regions, three_way(in_base.sequence, in_ours.sequence, in_theirs.sequence, anchors));
  Doubles(regions, in_base, in_ours, in_theirs).doubt();
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
      if (merged) {
        piece.kind = Piece::Kind::merged;
        piece.text = *merged;
      }
    } else {
      piece.text = region.kind == Region::Kind::theirs ? in_theirs.text(region.theirs) : in_ours.text(region.ours);
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace ws::sync::merge
