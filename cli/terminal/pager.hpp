/// Shows a text that is longer than the screen through the user's pager.
#pragma once

#include <string>
#include <string_view>

#include "cli/base/environment.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// WS_PAGER, then `configured` (the user's `pager` setting), then PAGER, then `less`. Empty: none is wanted (an empty
/// WS_PAGER, `cat`), or none would help (stdout is no terminal, TERM=dumb).
std::string pager_of(const Environment& environment, const std::string& configured, const Terminal& terminal);

/// Through `pager` where the text is longer than the screen, else straight. If the pager cannot be
/// started, the text is written straight; quitting it early is no failure.
void show(Terminal& terminal, const std::string& pager, std::string_view text);

}  // namespace ws::cli
