/// Opens a page in the user's browser.
#pragma once

#include <string>

#include "cli/base/environment.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// Whether a browser of this user can be expected to show a page here: a terminal, no remote shell, a display (or
/// BROWSER), no CI.
bool can_open_browser(const Environment& environment, const Terminal& terminal);

/// Starts BROWSER, else `xdg-open`, with the address as its one argument, without a shell. False where it cannot be
/// started, or the address is no plain http(s) URL. Does not wait.
bool open_browser(const Environment& environment, const std::string& url);

}  // namespace ws::cli
