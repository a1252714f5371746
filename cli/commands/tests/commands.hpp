/// Test runs.
#pragma once

#include "cli/grammar/command.hpp"

namespace ws::cli {

Command tests_runs_launch_command();
Command tests_runs_get_command();

}  // namespace ws::cli
