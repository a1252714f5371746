/// Runs the user's pager and editor in the foreground of the terminal.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "cli/base/environment.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// WS_PAGER, then `configured` (the `pager` setting), then PAGER, then `less`. Empty: disabled (WS_PAGER is empty, or
/// `cat`), or not possible (stdout is not a terminal, TERM=dumb).
std::string pager_of(const Environment& environment, const std::string& configured, const Terminal& terminal);

/// Uses `pager` if the text does not fit on the screen; otherwise, or if the pager cannot be started, writes the text
/// directly. Quitting the pager early is not an error.
void show(Terminal& terminal, const std::string& pager, std::string_view text);

/// VISUAL, then EDITOR, then `vi` in an interactive session; otherwise empty.
std::string editor_of(const Environment& environment, const Terminal& terminal);

/// Runs a shell command in the foreground (it receives Ctrl-C itself) and waits for it. Returns its exit code, or 128 +
/// N if it was killed by signal N. `arguments` are its `$1`, `$2`... Fails with `disk` if it cannot be started.
Result<int> run_in_shell(const std::string& line, const std::vector<std::string>& arguments);

/// Whether a window that we open is seen by whoever reads this terminal: no remote shell, a display.
bool has_desktop(const Environment& environment);

/// Opens it as the desktop does: `program`, else `xdg-open`, with the file or URL as its only argument and without a
/// shell. False if that cannot be started. Does not wait.
bool open_on_desktop(const std::string& target, const std::string& program = "xdg-open");

/// Waits for the editor. Fails with `disk` if it cannot be started or its exit code is not 0; the file is left as the
/// editor wrote it.
Result<void> edit_file(const std::string& editor, const std::filesystem::path& file);

}  // namespace ws::cli
