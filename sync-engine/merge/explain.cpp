#include "sync-engine/merge/explain.hpp"

#include <algorithm>
#include <set>
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
    case Piece::Reason::blanks: return "text replaces blanks";
    case Piece::Reason::stamp: return "the later date is taken";
    case Piece::Reason::collide: return "conflict, both sides changed it";
    case Piece::Reason::twice: return "conflict, both sides added or moved the same text to different places";
    case Piece::Reason::rules_differ: return "conflict, merging by words and by entries gives different texts";
    case Piece::Reason::context:
      return "conflict, one side changes the header or list that the other's lines belong to";
    case Piece::Reason::taken_away: return "conflict, one side removes what the other adds to";
  }
  return {};
}

std::set<std::string_view> lines_in(std::string_view text) {
  std::set<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.insert(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Of a collision: what the texts themselves show of its cause.
Piece::Reason cause_of(const Piece& piece) {
  if (piece.reason != Piece::Reason::collide) return piece.reason;
  const auto base = lines_in(piece.base);
  const auto theirs = lines_in(piece.theirs);
  for (const std::string_view line : lines_in(piece.ours)) {
    const bool has_words = line.find_first_not_of(" \t") != std::string_view::npos;
    if (has_words && theirs.contains(line) && !base.contains(line)) return Piece::Reason::twice;
  }
  const auto [fewer, more] = std::minmax({line_count(piece.ours), line_count(piece.theirs)});
  const std::size_t before = line_count(piece.base);
  return fewer < before && more > before ? Piece::Reason::taken_away : piece.reason;
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
                        .reason = cause_of(piece),
                        .ours = change_of(piece.base, piece.ours),
                        .theirs = change_of(piece.base, piece.theirs)});
    }
    line += line_count(piece.kind == Piece::Kind::conflict ? piece.ours : piece.text);
  }
  return places;
}

}  // namespace ws::sync::merge
