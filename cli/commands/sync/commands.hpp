/// The sync of a folder.
#pragma once

#include "cli/grammar/command.hpp"

namespace ws::cli {

// run.cpp
Command sync_init_command();
Command sync_run_command();
Command sync_status_command();
Command sync_plan_command();
Command sync_pull_command();
Command sync_push_command();
Command sync_commit_command();

// history.cpp
Command sync_log_command();
Command sync_untie_command();
Command sync_blame_command();
Command sync_restore_command();
Command sync_diff_command();
Command sync_roots_command();
Command sync_gc_command();

// runs.cpp
Result<ExitCode> list_runs(Session& session);  ///< `ws sync log --runs`
Command sync_show_command();
Command sync_undo_command();
Command sync_redo_command();

// links.cpp
Command links_check_command();
Command links_fix_command();
Command sync_mv_command();

// watch.cpp
Command sync_watch_command();

// attachments.cpp
Command sync_attachments_command();

// conflicts.cpp
Command sync_conflicts_command();

// resolve.cpp
Command sync_resolve_command();

}  // namespace ws::cli
