/// Sanitizes remote text for a terminal (`safety.md`, promise 9).
#pragma once

#include <string>
#include <string_view>

namespace ws::cli {

enum class Breaks {
  keep,   ///< newlines and tabs stay: a document's text
  space,  ///< they become one space: a cell, a line of a message
};

/// Removes escape sequences whole, drops marks that reorder or hide text, and shows every other control
/// character and every byte that is not UTF-8 as U+FFFD.
std::string clean(std::string_view text, Breaks breaks);

/// JSON as it came, for a terminal: every character that could act there, or hide what stands beside it, is written as
/// `\uXXXX`. It stays the same document.
std::string escape_json(std::string_view json);

}  // namespace ws::cli
