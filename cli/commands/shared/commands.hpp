/// The commands that are written by hand, listed in `registry.cpp`, and the few functions that one of their files has
/// for another.
#pragma once

#include "cli/commands/shared/session.hpp"
#include "cli/grammar/catalogue.hpp"

namespace ws::cli {

struct Batch;

// agents/
Command agents_create_command();
Command agents_rotate_command();
Command agents_pause_command();
Command agents_resume_command();
Command agents_revoke_command();

// auth/
Command login_command();
Command logout_command();
Command auth_status_command();
Command auth_list_command();
Command auth_switch_command();
Command auth_token_command();

// comments/
Command comments_add_command();
Command comments_reply_command();
Command comments_resolve_command();
Command comments_reopen_command();
Command comments_reanchor_command();

// config/
Command config_get_command();
Command config_set_command();
Command config_list_command();
Command config_explain_command();

// docs/
Command docs_share_command();
Command docs_create_command();
Command docs_get_command();
Command docs_update_command();
Command docs_archive_command();
Command docs_edit_command();
Command docs_export_command();
/// The documents as files of the folder that `--output` names.
Result<ExitCode> get_into_folder(Session& session, const Batch& batch);

// events/
Command events_claim_command();
Command events_renew_command();
Command events_complete_command();
Command events_fail_command();
Command events_work_command();

// files/
Command files_upload_command();
Command files_finalize_command();
Command files_uploads_command();
Command files_download_command();
Command files_organize_command();
Command files_operation_command();

// merge/
Command merge_command();
/// Whether git called `ws merge` as its driver, whatever else is wrong with the arguments.
bool is_merge_driver(const std::vector<std::string>& arguments);
/// Becomes `git merge-file` on the driver's three files, the last arguments: what git does without a driver. It ends
/// with 0, 1 where there are conflicts, or 255 where git fails too. Returns only where it cannot be started.
void leave_merge_to_git(const std::vector<std::string>& arguments);

// questions/, search/, workspaces/
Command ask_command();
Command questions_get_command();
Command search_command();
Command nodes_move_command();

// sync/
Command sync_init_command();
Command sync_run_command();
Command sync_status_command();
Command sync_account_command();
Command sync_share_command();
Command sync_plan_command();
Command sync_pull_command();
Command sync_push_command();
Command sync_commit_command();
Command sync_log_command();
Command sync_untie_command();
Command sync_blame_command();
Command sync_restore_command();
Command sync_reset_command();
Command sync_leave_command();
Command sync_take_command();
Command sync_diff_command();
Command sync_roots_command();
Command sync_gc_command();
Command sync_show_command();
Command sync_undo_command();
Command sync_redo_command();
Command sync_mv_command();
Command sync_watch_command();
Command sync_attachments_command();
Command sync_attachments_list_command();
Command sync_attachments_add_command();
Command sync_attachments_accept_command();
Command sync_attachments_refuse_command();
Command sync_conflicts_command();
Command sync_resolve_command();
Command links_check_command();
Command links_fix_command();
Command links_mv_command();
Result<ExitCode> list_runs(Session& session);  ///< `ws sync log --runs`

// tests/
Command tests_runs_launch_command();
Command tests_runs_get_command();

// utilities/
Command version_command();
Command call_overview_command();
Command commands_command();
Command schema_command();
Command exit_codes_command();
Command api_command();
Command discover_command();
Command skill_show_command();
Command skill_install_command();
Command doctor_command();
Command completion_command();
Command mock_command();
Command try_command();
/// The server beside this program, else the name by which PATH has it.
std::string mock_program();
/// Becomes ws-mock; comes back only where it cannot.
Failure start_mock(const std::vector<std::string>& arguments);
/// What may stand next on a command line, for `ws __complete WORD...`, which the shells' scripts call; the last word is
/// under way and may be empty. One candidate a line, its description behind a tab; `:files` where the shell is to
/// complete file names. Ids are asked of the server (at most 2 s, never a word of a failure); everything else needs no
/// network.
std::string complete(const World& world, const std::vector<Entry>& entries, const std::vector<std::string>& words);
/// `ws __reference`, all that the reference pages and the man pages are made of:
/// `{v: 1, version, commands: [as `--help --json`], global_flags, topics, exit_codes, settings, operations}`.
std::string reference_text(const std::vector<Entry>& entries);

}  // namespace ws::cli
