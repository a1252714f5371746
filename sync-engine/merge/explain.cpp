#include "sync-engine/merge/explain.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace ws::sync::merge {
namespace {

std::size_t line_count(std::string_view text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

std::string counted(std::size_t lines) { return fmt::format("{} line{}", lines, lines == 1 ? "" : "s"); }

std::string change_of(std::string_view base, std::string_view side) {
  if (side == base) return {};
  const std::size_t before = line_count(base);
  const std::size_t after = line_count(side);
  if (before == 0) return "adds " + counted(after);
  if (after == 0) return "removes " + counted(before);
  return before == after ? "changes " + counted(before) : fmt::format("changes {} into {}", counted(before), after);
}

std::string_view told_reason(Piece::Reason reason) {
  switch (reason) {
    case Piece::Reason::lines: return "taken";
    case Piece::Reason::words: return "merged word by word";
    case Piece::Reason::entries: return "merged entry by entry";
    case Piece::Reason::sections: return "both sections stay";
    case Piece::Reason::blanks: return "blanks give way to text";
    case Piece::Reason::stamp: return "the later date is taken";
    case Piece::Reason::collide: return "conflict, no rule is sure of it";
    case Piece::Reason::twice: return "conflict, both sides put the same at different places";
    case Piece::Reason::rules_differ: return "conflict, by words it is another text than by entries";
  }
  return {};
}

}  // namespace

std::string ExplainedPlace::sentence() const {
  std::string sides;
  if (kind == Piece::Kind::both) {
    sides = "both sides " + (ours.starts_with("adds") ? "add" + ours.substr(4) : "make the same change");
  } else {
    if (!ours.empty()) sides = "ours " + ours;
    if (!theirs.empty()) sides += (sides.empty() ? "theirs " : ", theirs ") + theirs;
  }
  return fmt::format("line {}: {}: {}", line, sides, told_reason(reason));
}

std::vector<ExplainedPlace> explain(const Merge& merge) {
  std::vector<ExplainedPlace> places;
  std::size_t line = 1;
  for (const Piece& piece : merge.pieces) {
    if (piece.kind != Piece::Kind::same) {
      places.push_back({.line = line,
                        .kind = piece.kind,
                        .reason = piece.reason,
                        .ours = change_of(piece.base, piece.ours),
                        .theirs = change_of(piece.base, piece.theirs)});
    }
    line += line_count(piece.kind == Piece::Kind::conflict ? piece.ours : piece.text);
  }
  return places;
}

}  // namespace ws::sync::merge
