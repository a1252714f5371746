/// Sanitizes remote text for a terminal (`safety.md`, promise 9).
#pragma once

#include <string>
#include <string_view>

namespace ws {

enum class Breaks {
  keep,   ///< newlines and tabs are kept, for texts of documents
  space,  ///< they become one space, for cells and messages
};

/// Removes escape sequences, drops characters that reorder or hide text, and replaces every other control character and
/// every byte that is not UTF-8 by U+FFFD.
std::string clean(std::string_view text, Breaks breaks);

/// Escapes every character that could act on the terminal, or hide or reorder its neighbours, as `\uXXXX`. The JSON
/// remains equivalent.
std::string escape_json(std::string_view json);

}  // namespace ws
