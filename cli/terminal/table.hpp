/// Text in columns, measured in what a terminal shows (wide and combining characters count as they look).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/terminal.hpp"

namespace ws::cli {

using Cells = std::vector<std::string>;

/// Cells are cleaned, and cut with `…` where the table would be wider than the terminal; where even a dozen characters
/// of each column have no room the columns before the last one are left out. Columns are two spaces apart, without
/// borders; a column of numbers stands to the right. A column that is true in `rigid` is never cut. An empty `heading`
/// gives no heading line.
std::string render_table(const Cells& heading,
                         const std::vector<Cells>& rows,
                         const Terminal& terminal,
                         const std::vector<bool>& rigid = {});

/// `text` cut to `columns` with `…`, or filled with spaces.
std::string fit(std::string_view text, std::size_t columns);
/// `text` cut to `columns` with `…` where it is longer.
std::string cut(std::string_view text, std::size_t columns);

/// `text` broken between words into lines of at most `columns`, all but the first indented.
std::string wrap(std::string_view text, std::size_t columns, std::size_t indent);
/// The same, but a command in backticks stays on one line: whoever pastes it gets no line break in it.
std::string wrap_message(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace ws::cli
