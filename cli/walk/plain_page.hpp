/// Renders a page of the walk as lines for a screen reader: whole words, a label on each text, no drawing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/terminal/key_press.hpp"
#include "cli/walk/frame.hpp"

namespace ws::cli::walk {

/// The page, line by line, safe for a terminal; unchanged lines far from a change are only counted.
std::vector<std::string> plain_page(const Walk& walk, const Position& position);

/// "Type one of: mine, theirs, skip, quit, help."
std::string plain_question(const Walk& walk);

/// The key for a typed line: a word of `keys()` or its letter, in any case; empty if there is none.
std::optional<KeyPress> find_key(const Walk& walk, std::string_view line);

}  // namespace ws::cli::walk
