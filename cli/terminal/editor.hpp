/// The user's editor, with the terminal to itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "cli/base/environment.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

/// VISUAL, then EDITOR, then `vi` where a person is there to use it; else empty.
std::string editor_of(const Environment& environment, const Terminal& terminal);

/// Runs a line of shell with the terminal to itself (Ctrl-C is its own) and waits for its end: its exit code, 128 + N
/// where signal N ended it. `arguments` are its `$1`, `$2`... Fails with `disk` where it cannot be started.
Result<int> run_in_shell(const std::string& line, const std::vector<std::string>& arguments);

/// Waits until it has ended. Fails with `disk` where it cannot be started or ends with another code than 0; the file is
/// what it left.
Result<void> edit_file(const std::string& editor, const std::filesystem::path& file);

}  // namespace ws::cli
