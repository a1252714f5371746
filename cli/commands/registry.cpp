#include "cli/commands/registry.hpp"

#include <algorithm>

#include "api-client/contract/operations.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/operation_commands.hpp"

namespace ws::cli {
namespace {

/// A command with the words and the summary that the operation table gives the operation.
Entry of_operation(std::string_view id, std::function<Command()> make) {
  const contract::Operation& operation = *contract::find_operation(id);
  return {operation.command, operation.summary, std::move(make)};
}

/// The commands that are more than one operation, or less.
std::vector<Entry> written_commands() {
  return {
      {"login", "Log in: get a key for this machine", login_command},
      {"logout", "Log out: revoke the key and forget it", logout_command},
      {"auth login", "Log in (the same as `ws login`)", login_command},
      {"auth logout", "Log out (the same as `ws logout`)", logout_command},
      {"auth status", "Show which key is in use", auth_status_command},
      {"auth list", "List the stored keys", auth_list_command},
      {"auth switch", "Use another stored key from now on", auth_switch_command},
      {"auth token", "Print the key in use", auth_token_command},
      {"config get", "Print a setting's value", config_get_command},
      {"config set", "Set a value in your own config file", config_set_command},
      {"config list", "List every setting and where it is set", config_list_command},
      {"config explain", "Show where a setting is set", config_explain_command},
      {"sync init", "Set up a folder for sync", sync_init_command},
      {"sync run", "Sync: pull, merge and push", sync_run_command},
      {"sync status", "Show what differs, and change nothing", sync_status_command},
      {"sync plan", "Show what a run would do", sync_plan_command},
      {"sync pull", "Apply what comes from the service", sync_pull_command},
      {"sync push", "Stage what changed here; nobody sees it yet", sync_push_command},
      {"sync commit", "Publish what is staged", sync_commit_command},
      {"sync diff", "Show what each side changed, line by line", sync_diff_command},
      {"sync untie", "Stop syncing a folder, and keep its files", sync_untie_command},
      {"sync blame", "Show who wrote each line of a file last", sync_blame_command},
      {"sync log", "List the states that the local history holds, the newest first", sync_log_command},
      {"sync show", "Show what a run changed, or a file in a state of the history", sync_show_command},
      {"sync undo", "Undo a run, here and on the service", sync_undo_command},
      {"sync redo", "Undo the last undo", sync_redo_command},
      {"sync mv", "Rename a file or folder, and the links to it", sync_mv_command},
      {"sync restore", "Restore files from the local history", sync_restore_command},
      {"sync reset", "Reset files to what the service has", sync_reset_command},
      {"sync leave", "Leave files out here; they stay on the service", sync_leave_command},
      {"sync take", "Bring back what is left out here", sync_take_command},
      {"sync watch", "Sync again and again until stopped", sync_watch_command},
      {"sync gc", "Delete old states of the local history", sync_gc_command},
      {"sync roots", "List the folders that you sync", sync_roots_command},
      {"sync share", "Share a synced folder with the Workspace", sync_share_command},
      {"sync account", "Show the account that a folder syncs as, or change it", sync_account_command},
      {"sync attachments", "List the files that notes show or link to", sync_attachments_command},
      {"sync attachments list", "List attachments (the same as `ws sync attachments`)", sync_attachments_list_command},
      {"sync attachments add", "Sync files that a text from the service shows", sync_attachments_add_command},
      {"sync attachments accept", "Accept files of the service that are held", sync_attachments_accept_command},
      {"sync attachments refuse",
       "Refuse files: do not sync them, and stop listing them",
       sync_attachments_refuse_command},
      {"sync conflicts", "List the open conflicts", sync_conflicts_command},
      {"sync resolve", "Decide a conflict", sync_resolve_command},
      {"links check", "List the broken links", links_check_command},
      {"links mv", "Rename a file or folder, and the links to it", links_mv_command},
      {"links fix", "Fix the links that a rename broke", links_fix_command},
      {"merge", "Merge three versions of a Markdown file, for git too", merge_command},
      {"ask", "Ask a question and show the answer", ask_command},
      {"questions create", "Ask a question (the same as `ws ask`)", ask_command},
      of_operation("questions.get", questions_get_command),
      of_operation("docs.create", docs_create_command),
      {"docs get", "Show a document", docs_get_command},
      {"docs update", "Replace a document's text", docs_update_command},
      {"docs edit", "Edit a document in your editor", docs_edit_command},
      {"docs export", "Save every document as a Markdown file", docs_export_command},
      {"docs archive", "Archive documents", docs_archive_command},
      {"search", "Search the Workspace", search_command},
      of_operation("docs.share", docs_share_command),
      {"nodes move", "Move a node in the tree", nodes_move_command},
      {"comments add", "Begin a comment thread on a document", comments_add_command},
      {"comments reply", "Answer in a thread", comments_reply_command},
      {"comments resolve", "Mark a thread as resolved", comments_resolve_command},
      {"comments reopen", "Open a thread again", comments_reopen_command},
      {"comments reanchor", "Mark a thread whose text no longer exists", comments_reanchor_command},
      {"agents create", "Create an agent", agents_create_command},
      {"agents pause", "Pause agents: their keys are refused with 403", agents_pause_command},
      {"agents resume", "Resume paused agents", agents_resume_command},
      {"agents revoke", "Revoke agents and their keys for good", agents_revoke_command},
      of_operation("agents.rotate", agents_rotate_command),
      of_operation("events.claim", events_claim_command),
      of_operation("events.renew", events_renew_command),
      of_operation("events.complete", events_complete_command),
      of_operation("events.fail", events_fail_command),
      {"events work", "Run a command for each agent event", events_work_command},
      {"files upload", "Upload files", files_upload_command},
      of_operation("files.upload_finish", files_finalize_command),
      {"files uploads", "List unfinished uploads of this machine", files_uploads_command},
      {"files download", "Download files", files_download_command},
      of_operation("files.organize", files_organize_command),
      of_operation("files.operation", files_operation_command),
      of_operation("tests.run_launch", tests_runs_launch_command),
      of_operation("tests.run_get", tests_runs_get_command),
      {"call", "Call any operation of the API by its id", call_overview_command},
      {"api", "Send any request to the server", api_command},
      {"discover", "Show what the service offers", discover_command},
      {"commands", "List every operation with its command", commands_command},
      {"schema", "Show an operation as JSON Schema", schema_command},
      {"skill show", "Show the operating skill", skill_show_command},
      {"skill install", "Install the operating skill", skill_install_command},
      {"doctor", "Check settings, keys, server", doctor_command},
      {"try", "See a sync, a merge, a conflict and an undo, in ten seconds", try_command},
      {"completion", "Print the completion script of a shell", completion_command},
      {"mock", "Start ws-mock, the mock server", mock_command},
      {"exit-codes", "List how a command may end", exit_codes_command},
      {"version", "Show the version", version_command},
  };
}

/// Whether some command has these words, or their beginning: `auth login --resume` is `auth login`.
bool is_covered(const std::vector<Entry>& entries, std::string_view words) {
  return std::ranges::any_of(entries, [words](const Entry& entry) { return begins_with(words, entry.words); });
}

}  // namespace

std::vector<Entry> all_commands() {
  std::vector<Entry> entries = written_commands();
  std::vector<Entry> derived;
  for (const contract::Operation* operation : contract::operations()) {
    if (is_covered(entries, operation->command)) continue;
    derived.push_back({operation->command, operation->summary, [operation] { return operation_command(*operation); }});
  }
  // Before those that are about ws itself.
  entries.insert(std::ranges::find(entries, "call", &Entry::words), derived.begin(), derived.end());
  return entries;
}

}  // namespace ws::cli
