/// Three sequences of things that can only be told apart: which parts only one side changed, and where both did.
///
/// The things are lines or words, each as a number: equal numbers are equal things. Nothing here knows which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "api-client/base/result.hpp"

namespace ws::sync::merge {

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool empty() const { return begin == end; }
  std::size_t size() const { return end - begin; }
  bool operator==(const Span&) const = default;
};

struct Region {
  enum class Kind {
    same,      ///< nobody changed it
    ours,      ///< only we did
    theirs,    ///< only they did
    both,      ///< both did the same
    conflict,  ///< both did, differently, or too near to each other
  };
  Kind kind = Kind::same;
  Span base = {};
  Span ours = {};
  Span theirs = {};
  bool operator==(const Region&) const = default;
};

struct Sequence {
  std::vector<std::uint32_t> keys = {};
  /// Where a change would rather begin, one for each key: at the start of a line. Empty: anywhere.
  std::vector<bool> starts = {};
};

/// The regions in order; each list of spans covers its sequence without a gap. Two changes of different sides are one
/// region unless a thing that `anchors` names (of the base) stands unchanged between them. Swapping ours and theirs
/// swaps the answer. Fails with `internal`.
Result<std::vector<Region>> three_way(const Sequence& base,
                                      const Sequence& ours,
                                      const Sequence& theirs,
                                      const std::vector<bool>& anchors);

}  // namespace ws::sync::merge
