/// Arguments of one command into a `Parsed`: CLI11's only home in `ws`.
#pragma once

#include <string>
#include <vector>

#include "cli/grammar/catalogue.hpp"
#include "cli/grammar/command.hpp"

namespace ws::cli {

/// Flags may stand before, between and behind the words; `--` ends them; underscores in a flag's name are hyphens.
/// Fails with `usage`: an unknown flag (naming the nearest, else the command of `entries` that has it), a missing
/// value, too few or too many words.
Result<Parsed> parse(const Command& command,
                     const std::vector<std::string>& arguments,
                     const std::vector<Entry>& entries = {});

/// "ws docs get ID".
std::string usage_line(const Command& command);

}  // namespace ws::cli
