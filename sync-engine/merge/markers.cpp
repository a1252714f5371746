#include "sync-engine/merge/markers.hpp"

#include <vector>

#include "api-client/base/text.hpp"
#include "sync-engine/git/changed_lines.hpp"

namespace ws::sync::merge {
namespace {

using git::ChangedLines;

/// Conflicts with so few lines between them are one: a person reads them at once (XDL_MERGE_ZEALOUS in git's xmerge.c).
constexpr std::size_t lines_that_part = 3;

class MarkedText {
 public:
  explicit MarkedText(const Markers& markers) : markers_(markers) {}

  void add(const Piece& piece) {
    if (piece.kind != Piece::Kind::conflict) {
      text_ += piece.text;
      return;
    }
    const std::vector<std::string_view> ours = whole_lines(piece.ours);
    const std::vector<std::string_view> theirs = whole_lines(piece.theirs);
    std::size_t at = 0;
    for (const ChangedLines& place : marked_places(piece, ours.size(), theirs.size())) {
      append(ours, at, place.before_begin);
      at = place.before_end;
      mark('<', markers_.ours);
      append(ours, place.before_begin, place.before_end);
      if (markers_.style != MarkerStyle::merge) {
        mark('|', markers_.base);
        text_ += piece.base;
      }
      mark('=', "");
      append(theirs, place.after_begin, place.after_end);
      mark('>', markers_.theirs);
    }
    append(ours, at, ours.size());
  }

  std::string take() { return std::move(text_); }

 private:
  /// The places where ours and theirs differ; lines between them are the same in both. One place for all if the two
  /// cannot be compared.
  std::vector<ChangedLines> marked_places(const Piece& piece, std::size_t ours, std::size_t theirs) const {
    std::vector<ChangedLines> whole = {{0, ours, 0, theirs}};
    if (markers_.style == MarkerStyle::diff3) return whole;
    const auto changes = git::changed_lines(piece.ours, piece.theirs);
    if (!changes || changes->empty()) return whole;
    std::vector<ChangedLines> places;
    for (const ChangedLines& change : *changes) {
      const bool is_near = !places.empty() && (markers_.style == MarkerStyle::zdiff3 ||
                                               change.before_begin - places.back().before_end <= lines_that_part);
      if (!is_near) {
        places.push_back(change);
        continue;
      }
      places.back().before_end = change.before_end;
      places.back().after_end = change.after_end;
    }
    return places;
  }

  void append(const std::vector<std::string_view>& lines, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) text_ += lines[i];
  }

  void mark(char sign, std::string_view label) {
    text_.append(markers_.size, sign);
    if (!label.empty()) text_.append(" ").append(label);
    text_ += '\n';
  }

  const Markers& markers_;
  std::string text_ = {};
};

}  // namespace

std::string with_markers(const Merge& merge, const Markers& markers) {
  MarkedText marked(markers);
  for (const Piece& piece : merge.pieces) marked.add(piece);
  TextForm form = merge.form;
  const bool ends_marked = !merge.pieces.empty() && merge.pieces.back().kind == Piece::Kind::conflict;
  if (ends_marked) form.final_newline = true;
  return with_form(marked.take(), form);
}

}  // namespace ws::sync::merge
