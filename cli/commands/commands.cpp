#include "cli/commands/commands.hpp"

namespace ws::cli {

std::vector<Entry> workflow_commands() {
  return {
      {"login", "Log in: get a key for this machine", login_command},
      {"logout", "Log out: revoke the key and forget it", logout_command},
      {"auth login", "Log in (the same as `ws login`)", login_command},
      {"auth logout", "Log out (the same as `ws logout`)", logout_command},
      {"auth status", "Show which key is in use", auth_status_command},
      {"auth list", "List the stored keys", auth_list_command},
      {"auth switch", "Use another stored key from now on", auth_switch_command},
      {"sync init", "Tie a folder to the service", sync_init_command},
      {"sync run", "Pull, merge, push: bring both sides together", sync_run_command},
      {"sync status", "Show what differs, and change nothing", sync_status_command},
      {"sync plan", "Show what a run would do", sync_plan_command},
      {"sync pull", "Apply what comes from the service", sync_pull_command},
      {"sync push", "Stage what changed here; nobody sees it yet", sync_push_command},
      {"sync commit", "Publish what is staged", sync_commit_command},
      {"sync conflicts", "List what a person must decide", sync_conflicts_command},
      {"sync resolve", "Decide a conflict", sync_resolve_command},
      {"docs create", "Create a document", docs_create_command},
      {"docs get", "Show a document", docs_get_command},
      {"docs update", "Replace a document", docs_update_command},
      {"docs archive", "Archive documents", docs_archive_command},
      {"call", "Call any operation of the API by its id", call_overview_command},
      {"commands", "List every operation with its command", commands_command},
      {"schema", "Show an operation as JSON Schema", schema_command},
      {"exit-codes", "List how a command may end", exit_codes_command},
      {"version", "Show the version", version_command},
  };
}

}  // namespace ws::cli
