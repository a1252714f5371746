/// What the sync commands share: the tree that they work in, the engine on it, how a report is shown.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "api-client/base/shell_command.hpp"
#include "cli/commands/shared/session.hpp"
#include "cli/output/sync_report.hpp"
#include "cli/terminal/progress.hpp"
#include "sync-engine/engine.hpp"
#include "sync-engine/remote/remote.hpp"

namespace ws::cli {

/// `to_look`: nothing is changed, here or there.
enum class Network { needed, to_look, none };

/// An engine on a tree, with what it borrows.
struct SyncTree {
  std::filesystem::path root = {};
  std::unique_ptr<ProgressLine> progress = {};
  std::unique_ptr<sync::Remote> remote = {};
  std::optional<sync::SyncEngine> engine = {};
  bool is_elsewhere = false;  ///< -C named it: the user's working directory is another
  std::string account = {};   ///< whose folder it is, cleaned; empty: not known, or not asked for
};

/// The tree at or above `start`. Its binding only chooses among the keys that are stored: a file in a tree cannot send
/// one anywhere. Fails with `usage` (no tree), `disk`, `auth`, or as the client does.
Result<SyncTree> open_tree(Session& session, const std::filesystem::path& start, Network network);

/// Fails with code `foreign_server` where the tree has been set up anew for another server than the one that is called.
Result<void> check_server(Session& session, const SyncTree& tree);

/// A new engine on the tree, as its files are now, and a progress line from its beginning. Fails as the engine does.
Result<void> open_engine(Session& session, SyncTree& tree);

/// A path given in the working directory, as the tree names it.
std::string path_in_tree(const std::filesystem::path& root, const std::string& given);
/// The same of a file in the tree. Fails with `usage`.
Result<sync::RelativePath> path_argument(const std::filesystem::path& root, const std::string& given);

/// The flags that a sync command may have, by what they mean.
std::vector<Flag> run_flags();
std::vector<Flag> step_flags();
/// One of `run_flags`.
Flag flag_named(std::string_view name);
/// What they say. Fails with `usage`.
Result<sync::RunOptions> run_options(const Session& session);

/// For `ws sync roots`; where it cannot be written nothing else suffers.
void register_tree(const Session& session, const std::filesystem::path& root, const sync::TreeBinding& binding);

/// JSON, TSV, or words on a terminal.
/// `stamp`: put before each line for a terminal.
void print_report(
    Session& session, const SyncTree& tree, const sync::Report& report, ReportStage stage, std::string stamp = {});
/// What stopped a run, on stderr: where the report is JSON, and where --quiet would say nothing.
void print_stop(Session& session, const SyncTree& tree, const sync::Report& report, ExitCode exit);
/// The report, and what ended it early; the exit code stands for both.
ExitCode finish_run(Session& session, SyncTree& tree, const sync::Report& report, ReportStage stage);
/// After a run that removed a file, or replaced more than ten: how to take it back.
void print_undo_hint(Session& session, const SyncTree& tree, const sync::Report& report);
/// How the tree's commands begin from here: "ws", or "ws -C DIR".
ShellCommand program_for(const SyncTree& tree);
Invocation invocation_of(Session& session, const SyncTree& tree);

/// "mine", of a decision: the same word in every line that people read.
std::string_view keep_word(sync::Keep keep);
/// What a decision has done, and what is left to do: "it is sent".
std::string kept_text(sync::Keep keep);  ///< "kept mine", "merged"
std::string_view what_follows(const sync::Conflict& conflict, sync::Keep keep);

/// "run 3 (ws sync run, 2 hours ago)"; with the time itself where no terminal shows it.
std::string described(Session& session, const sync::Operation& run);
/// The number that `text` is, where `what` names it in the error: "RUN". Fails with `usage`.
Result<std::uint64_t> positive_number(std::string_view what, const std::string& text);

/// Hunks of a unified diff as git colours them, cleaned for the terminal: colours only where it shows some.
std::string coloured_diff(Session& session, const std::string& hunks);

struct WalkReport {
  std::size_t left_open = 0;
  bool stopped = false;  ///< a signal, or the terminal is gone
};

/// `ws sync resolve` without PATH: leads through all of them. What is decided is decided at once; the rest stays open.
/// Fails with what ends everything: no key, no network, no disk.
Result<WalkReport> walk_conflicts(Session& session, SyncTree& tree, const std::vector<sync::Conflict>& conflicts);

}  // namespace ws::cli
