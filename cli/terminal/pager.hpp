/// Shows a text that does not fit on the screen in the user's pager.
#pragma once

#include <string>
#include <string_view>

#include "cli/base/environment.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// WS_PAGER, then `configured` (the `pager` setting), then PAGER, then `less`. Empty: disabled (WS_PAGER is empty, or
/// `cat`), or not possible (stdout is not a terminal, TERM=dumb).
std::string pager_of(const Environment& environment, const std::string& configured, const Terminal& terminal);

/// Uses `pager` if the text does not fit on the screen; otherwise, or if the pager cannot be started, writes the text
/// directly. Quitting the pager early is not an error.
void show(Terminal& terminal, const std::string& pager, std::string_view text);

}  // namespace ws::cli
