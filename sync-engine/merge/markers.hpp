/// A merge as text, its conflicts marked as git marks them.
#pragma once

#include <string>

#include "sync-engine/git/merge_file.hpp"
#include "sync-engine/merge/merge.hpp"

namespace ws::sync::merge {

using git::Markers;
using git::MarkerStyle;

/// In the text's own form; a marker at the end of the text has its newline. In the styles `merge` and `zdiff3`, lines
/// that both sides have stand outside the markers, once.
std::string with_markers(const Merge& merge, const Markers& markers);

}  // namespace ws::sync::merge
