/// The lines that `ws` writes into a file for a person who merges by hand.
#pragma once

#include <string_view>
#include <vector>

namespace ws::sync {

/// Whether `text` holds lines that `write_markers` writes, more of them than any of `others`: a note about git may hold
/// markers of its own.
bool adds_markers(std::string_view text, const std::vector<std::string_view>& others);

}  // namespace ws::sync
