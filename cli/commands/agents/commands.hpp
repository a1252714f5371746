/// Agents.
#pragma once

#include "cli/grammar/command.hpp"

namespace ws::cli {

Command agents_create_command();
Command agents_rotate_command();
Command agents_pause_command();
Command agents_resume_command();
Command agents_revoke_command();

}  // namespace ws::cli
