/// Agents.
#pragma once

#include <span>

#include "cli/grammar/command.hpp"
#include "cli/output/view.hpp"

namespace ws::cli {

Command agents_create_command();
Command agents_rotate_command();
Command agents_pause_command();
Command agents_resume_command();
Command agents_revoke_command();

// views.cpp
std::span<const View> agents_views();

}  // namespace ws::cli
