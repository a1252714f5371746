#include "sync-engine/merge/body.hpp"

#include <algorithm>
#include <map>
#include <string>

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

/// A line of some words that both sides brought in at different places is one line meant twice, or one moved twice:
/// both places are for a person.
void doubt_doubles(std::vector<Region>& regions, const BodyText& ours, const BodyText& theirs) {
  constexpr std::size_t telling_bytes = 16;
  const auto brought = [&](Region::Kind kind, const BodyText& text, Span Region::*side) {
    std::multimap<std::uint32_t, Region*> lines;
    for (Region& region : regions) {
      if (region.kind != kind) continue;
      for (std::size_t i = (region.*side).begin; i < (region.*side).end; ++i) {
        if (text.lines[i].text.size() >= telling_bytes) lines.emplace(text.sequence.keys[i], &region);
      }
    }
    return lines;
  };
  const auto by_us = brought(Region::Kind::ours, ours, &Region::ours);
  const auto by_them = brought(Region::Kind::theirs, theirs, &Region::theirs);
  for (const auto& [key, region] : by_us) {
    const auto [first, last] = by_them.equal_range(key);
    for (auto same = first; same != last; ++same) {
      region->kind = Region::Kind::conflict;
      same->second->kind = Region::Kind::conflict;
    }
  }
}

}  // namespace

Result<std::vector<Piece>> merge_body(std::string_view base, std::string_view ours, std::string_view theirs) {
  WS_LET(const FollowedMoves followed, follow_moves(base, ours, theirs));
  LineNumbers numbers;
  const BodyText in_base = numbers.read(base);
  const BodyText in_ours = numbers.read(followed.ours);
  const BodyText in_theirs = numbers.read(followed.theirs);
  const std::vector<bool> anchors(in_base.lines.size(), true);
  WS_LET(std::vector<Region> regions, three_way(in_base.sequence, in_ours.sequence, in_theirs.sequence, anchors));
  doubt_doubles(regions, in_ours, in_theirs);
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
