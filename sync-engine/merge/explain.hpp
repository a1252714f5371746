/// What a merge did, place by place: for `ws merge --explain`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sync-engine/merge/merge.hpp"

namespace ws::sync::merge {

struct ExplainedPlace {
  std::size_t line = 1;  ///< where it begins in `Merge::text()`
  Piece::Kind kind = Piece::Kind::same;
  Piece::Reason reason = Piece::Reason::lines;
  std::string ours = {};  ///< "adds 2 lines"; empty: it changed nothing there
  std::string theirs = {};

  /// "line 12: ours adds 2 lines, theirs adds 1 line: merged entry by entry".
  std::string sentence() const;
};

/// Every place that a side changed, in order. Made of the pieces alone: a merge that nobody asks pays nothing for it.
std::vector<ExplainedPlace> explain(const Merge& merge);

}  // namespace ws::sync::merge
