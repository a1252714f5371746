/// Renders Markdown for a terminal: headings, lists, tasks, tables, quotes, code, links.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// Wraps to the terminal's width (at most 120 columns; code is not wrapped) and uses its colours. Every word is cleaned
/// first, so that no control character or escape sequence passes. The result ends with a newline; it is empty for an
/// empty text.
std::string render_markdown(std::string_view source, const Terminal& terminal);

}  // namespace ws::cli
