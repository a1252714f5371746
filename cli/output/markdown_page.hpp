/// Renders Markdown for a terminal: headings, lists, tasks, tables, quotes, code, links.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// Wrapped to the terminal's width (at most 120 columns; code is not wrapped), in its colours if it has some. Every
/// word of the text is cleaned first, so no control or escape sequence of it gets through. Ends with a newline; empty
/// for an empty text.
std::string render_markdown(std::string_view source, const Terminal& terminal);

}  // namespace ws::cli
