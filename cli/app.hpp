/// From arguments to an exit code: finds the command, parses what belongs to it, runs it, reports how it failed.
#pragma once

#include <string>
#include <vector>

#include "cli/base/exit_code.hpp"
#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// `arguments` without the program's name.
ExitCode run(const World& world, const std::vector<std::string>& arguments);

}  // namespace ws::cli
