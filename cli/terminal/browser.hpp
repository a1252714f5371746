/// Opens a page in the user's browser.
#pragma once

#include <string>

#include "cli/base/environment.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// Whether a browser on this machine can show the page to the user: a terminal, no remote shell, a display (or
/// BROWSER), no CI.
bool can_open_browser(const Environment& environment, const Terminal& terminal);

/// Runs BROWSER, otherwise `xdg-open`, with the URL as its only argument and without a shell. Returns false if it
/// cannot be started or the URL is not plain http(s). Does not wait.
bool open_browser(const Environment& environment, const std::string& url);

}  // namespace ws::cli
