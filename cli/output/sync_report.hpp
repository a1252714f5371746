/// Renders the report of a sync, and computes its exit code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/shell_command.hpp"
#include "cli/base/exit_code.hpp"
#include "cli/terminal/terminal.hpp"
#include "sync-engine/engine.hpp"

namespace ws::cli {

enum class ReportStage {
  planned,    ///< status, plan, --dry-run
  staged,     ///< push
  published,  ///< commit
  done,       ///< run, pull
};

/// How the command was called: the commands that the report suggests repeat these flags.
struct Invocation {
  ShellCommand program{"ws"};  ///< "ws -C DIR" where the tree is elsewhere
  std::string only = {};       ///< the GLOB of `--only`
  std::string verb = {};       ///< "undo 12" where it is not a run
  bool may_walk = false;       ///< somebody can be led through conflicts
  bool were_told = false;      ///< an earlier run has named the files that are left alone: their number will do
  std::string stamp = {};      ///< put before each line for a terminal: the time in a watch
};

/// What is said of a change that a command takes back, or makes again, on both sides.
struct ReversalWords {
  std::string_view planned, done, to_do;
};
/// Null: the command is neither an undo nor a redo.
const ReversalWords* reversal_words(const Invocation& called);
/// Whether a row of such a command is about both sides.
bool reverses_both_sides(const sync::Action& action);

/// How many rows came to what, of one report or of many: "3 sent, 1 received". In the order in which they came first.
class Sum {
 public:
  void add(const sync::Report& report, const ReversalWords* reversal = nullptr);
  std::string text() const;  ///< empty where nothing was counted

 private:
  std::vector<std::pair<std::string_view, std::size_t>> counts_;
};

/// The sum ("2 sent, 1 received") or the guard, what is to be known, the next commands.
std::vector<std::string> render_outcome(const sync::Report& report, ReportStage stage, const Invocation& called = {});

/// What became on the service of what the guard keeps here: "archived on the service", or of files "deleted".
std::string_view gone_there_words(const sync::Guard& guard);

/// Why nothing was done, or why files wait, as an error: for who sees no report. Empty: the run was not stopped.
std::optional<Failure> stop_of(const sync::Report& report, const Invocation& called);

/// Why a file is not synced, or not read, in words.
std::string_view words_for(sync::SkipReason skip_reason);

/// The reason of a conflict, and where theirs is: "renamed on both sides; on the service: b.md".
std::string reason_of(const sync::Conflict& conflict);

/// The API archives documents; an attachment leaves the list of attachments.
bool leaves_the_list(const sync::Action& action);

/// For a terminal: a line for each file (at most `max_rows`; 0: all), what was skipped, the sum, the next command.
std::string render_report(const sync::Report& report,
                          ReportStage stage,
                          const Terminal& terminal,
                          std::size_t max_rows,
                          const Invocation& called = {});
/// For a pipe: {state, action, path, previous_path, reason, document_id} of each row, as a list prints its items.
Json report_items(const sync::Report& report);
/// The same without the id, `state<TAB>action<TAB>path<TAB>previous path<TAB>reason`, one a line: 100,000 rows at once.
/// Of a plan also what is left alone, without an action: `skipped` or `detached`, its path and why.
std::string report_to_tsv(const sync::Report& report, ReportStage stage);

/// The first that applies (`cli.md`, "Local Markdown sync"): signal, 2, 4, 14, 12, what ended the run, 13, 7, 0.
ExitCode exit_code_of_run(const sync::Report& report, int signal);
/// Of `status --exit-code`: 7 on conflicts, 13 when anything else is pending.
ExitCode exit_code_of_status(const sync::Report& report);

}  // namespace ws::cli
