/// Which words of a text differ from another: what is highlighted in it.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace ws::cli::walk {

/// Bytes [begin, end).
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// The ranges of `after` that `before` does not have, in order, by whole words; blanks between two of them belong to
/// the range. Empty where next to nothing is common (a mark on everything tells nothing), and for texts of more than
/// 64 KiB.
std::vector<ByteRange> changed_words(std::string_view before, std::string_view after);

}  // namespace ws::cli::walk
