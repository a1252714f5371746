/// The tree of a Workspace.
#pragma once

#include <span>

#include "cli/grammar/command.hpp"
#include "cli/output/view.hpp"

namespace ws::cli {

Command nodes_move_command();

// views.cpp
std::span<const View> workspaces_views();

}  // namespace ws::cli
