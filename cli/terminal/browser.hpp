/// Shows a page to the person in front of the machine.
#pragma once

#include <string>

#include "cli/base/environment.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// Whether there is a person in front of a screen here: a terminal, no remote shell, a display (or BROWSER), no CI.
bool can_open_browser(const Environment& environment, const Terminal& terminal);

/// Starts BROWSER, else `xdg-open`, with the address as its one argument, without a shell. False where it cannot be
/// started, or the address is no plain http(s) URL. Does not wait.
bool open_browser(const Environment& environment, const std::string& url);

}  // namespace ws::cli
