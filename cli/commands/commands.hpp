/// The commands that are more than one operation, or less; each file of this folder makes its own.
#pragma once

#include <vector>

#include "cli/catalogue.hpp"
#include "cli/command.hpp"

namespace ws::cli {

/// All of them, in the order in which help lists them.
std::vector<Entry> workflow_commands();

// about.cpp
Command version_command();
Command call_overview_command();
Command commands_command();
Command schema_command();
Command exit_codes_command();

// login.cpp
Command login_command();
Command logout_command();

// auth.cpp
Command auth_status_command();
Command auth_list_command();
Command auth_switch_command();

// docs.cpp
Command docs_create_command();
Command docs_get_command();
Command docs_update_command();
Command docs_archive_command();

// sync.cpp
Command sync_init_command();
Command sync_run_command();
Command sync_status_command();
Command sync_plan_command();
Command sync_pull_command();
Command sync_push_command();
Command sync_commit_command();

// sync_conflicts.cpp
Command sync_conflicts_command();
Command sync_resolve_command();

}  // namespace ws::cli
