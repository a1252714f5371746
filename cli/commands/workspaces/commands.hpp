/// The tree of a Workspace.
#pragma once

#include "cli/grammar/command.hpp"

namespace ws::cli {

Command nodes_move_command();

}  // namespace ws::cli
