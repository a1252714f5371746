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
Command auth_token_command();

// config.cpp
Command config_get_command();
Command config_set_command();
Command config_list_command();
Command config_explain_command();

// api.cpp, discover.cpp
Command api_command();
Command discover_command();

// skill.cpp
Command skill_show_command();
Command skill_install_command();

// doctor.cpp, completion.cpp
Command doctor_command();
Command completion_command();

// mock.cpp
Command mock_command();
/// Becomes ws-mock; comes back only where it cannot.
Failure start_mock(const std::vector<std::string>& arguments);

// ask.cpp
Command ask_command();
Command questions_get_command();

// agents.cpp
Command agents_create_command();
Command agents_rotate_command();
Command agents_pause_command();
Command agents_resume_command();
Command agents_revoke_command();

// events.cpp, events_work.cpp
Command events_claim_command();
Command events_renew_command();
Command events_complete_command();
Command events_fail_command();
Command events_work_command();

// small_changes.cpp
Command comments_add_command();
Command comments_reply_command();
Command comments_resolve_command();
Command comments_reopen_command();
Command comments_reanchor_command();
Command docs_share_command();
Command nodes_move_command();

// files_upload.cpp, files_download.cpp, files_organize.cpp
Command files_upload_command();
Command files_finalize_command();
Command files_uploads_command();
Command files_download_command();
Command files_organize_command();
Command files_operation_command();

// test_runs.cpp
Command tests_runs_launch_command();
Command tests_runs_get_command();

// docs.cpp
Command docs_create_command();
Command docs_get_command();
Command docs_update_command();
Command docs_archive_command();

// docs_edit.cpp
Command docs_edit_command();

// search.cpp
Command search_command();

// sync.cpp
Command sync_init_command();
Command sync_run_command();
Command sync_status_command();
Command sync_plan_command();
Command sync_pull_command();
Command sync_push_command();
Command sync_commit_command();

// sync_history.cpp
Command sync_log_command();
Command sync_restore_command();
Command sync_diff_command();
Command sync_roots_command();
Command sync_gc_command();

// sync_watch.cpp
Command sync_watch_command();

// sync_conflicts.cpp
Command sync_conflicts_command();

// sync_resolve.cpp
Command sync_resolve_command();

}  // namespace ws::cli
