/// Services that normalise the texts they store: trailing blanks, line ends.
#pragma once

#include <string_view>

namespace ws::sync {

/// Whether two texts say the same: blanks at the ends of lines, line ends, empty lines at the end, a byte order mark
/// and the Unicode form aside.
bool is_same_but_for_blanks(std::string_view a, std::string_view b);

}  // namespace ws::sync
