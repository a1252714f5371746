/// Keeps a folder of Markdown and a source on the service in step.
///
/// Every command is one method. `status` and `plan` change nothing but the disposable stat cache, and make what is
/// missing in `.ws/`; `pull`, `push`, `commit`, `run` and `resolve` take the tree's lock, first finish or undo what an
/// interrupted run left, and journal each step before it happens. What a method did to each document is in its
/// `Report`; a `Failure` instead of a report means that nothing of this call was applied.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/attachments/choose_attachments.hpp"
#include "sync-engine/attachments/restore_attachment.hpp"
#include "sync-engine/binding/tree_binding.hpp"
#include "sync-engine/conflicts/rewound_documents.hpp"
#include "sync-engine/model/options.hpp"
#include "sync-engine/model/plan.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/relink/broken_links.hpp"
#include "sync-engine/relink/relink.hpp"
#include "sync-engine/remote/remote.hpp"
#include "sync-engine/run/bring_back.hpp"
#include "sync-engine/run/leave.hpp"
#include "sync-engine/run/status.hpp"
#include "sync-engine/state/history_gc.hpp"
#include "sync-engine/state/history_log.hpp"
#include "sync-engine/state/operations.hpp"
#include "sync-engine/survey/differences.hpp"
#include "sync-engine/undo/undo.hpp"

namespace ws::sync {

struct RunContext;

/// One run, and what it changed.
struct OperationDetails {
  Operation operation = {};
  std::vector<OperationRow> rows = {};
  bool is_undone = false;  ///< by another one
};

class SyncEngine {
 public:
  /// `remote` may be null: then only offline calls work. All references outlive the engine. Fails with `disk`.
  static Result<SyncEngine> open(const std::filesystem::path& root,
                                 Remote* remote,
                                 const Clock& clock,
                                 EngineOptions options = {});
  SyncEngine(SyncEngine&&) noexcept;
  SyncEngine& operator=(SyncEngine&&) noexcept;
  ~SyncEngine();

  const TreeBinding& binding() const;

  /// The plan of a `run`, with nothing done: same rows, same order.
  Result<Report> status(const RunOptions& options = {});
  /// Those of the base, as both sides last agreed on them.
  Result<std::vector<KnownDocument>> documents();
  /// The same offline, for a watch to hand out. Empty: there is something to do. See run/status.hpp.
  Result<std::optional<CleanStatus>> clean_status();
  /// Pull, merge what merges cleanly, push, commit.
  Result<Report> run(const RunOptions& options = {});
  /// Applies what comes; a clean merge stays as a local edit.
  Result<Report> pull(const RunOptions& options = {});
  /// Stages what changed here; nobody sees it.
  Result<Report> push(const RunOptions& options = {});
  /// Publishes what is staged. Nothing staged: an empty report. `dry_run`: what it would publish.
  Result<Report> commit(const RunOptions& options = {});

  /// What each side changed since both agreed, of files the sizes alone; of the paths that `options.only` wants.
  Result<std::vector<Difference>> diff(const RunOptions& options = {});
  /// Every state that was ever synced or overwritten, the newest first. No network.
  Result<std::vector<HistoryState>> log(const LogOptions& options = {}) const;
  /// The text of a file in a state of the history; a prefix of the state's id will do. Fails with `not_found`, `usage`.
  Result<std::string> text_in(std::string_view state, const RelativePath& path) const;
  /// The text of a file as it lies here; empty: it does not. Fails with `disk`.
  Result<std::optional<std::string>> local_text(const RelativePath& path) const;
  /// Who wrote each line of a file last. Fails with `not_found` where the file is not there. No network.
  Result<std::vector<BlamedLine>> blame(const RelativePath& path);
  /// The files that notes show, as they stand to what was last heard of the service. No network.
  Result<std::vector<ListedAttachment>> attachments();
  /// Decides about such files. See attachments/choose_attachments.hpp.
  Result<std::vector<RelativePath>> choose_attachments(FileChoice choice, const std::vector<std::string>& names);
  /// Brings a text back from the history, as a local edit. See apply/replace_file.hpp.
  Result<Restored> restore(const RelativePath& path, const std::optional<std::string>& at = {}, bool dry_run = false);
  /// The same of many: see run/bring_back.hpp.
  Result<BroughtBack> bring_back(const BringBack& wish);
  /// Leaves files out here, on purpose, and takes them again; what is left out. See run/leave.hpp.
  Result<BroughtBack> leave(const LeaveWish& wish);
  Result<Taken> take(const TakeWish& wish);
  Result<std::vector<LeftOutName>> left_out() const;
  /// What was done here, run by run, the newest first; `limit` 0: all. No network.
  Result<std::vector<OperationDetails>> operations(std::size_t limit);
  /// Fails with `not_found`.
  Result<OperationDetails> operation(std::uint64_t id);
  /// A text that an operation names. Fails with `not_found`.
  Result<std::string> text(const git::ObjectId& blob);
  /// Takes one back on both sides, as far as nobody changed it since: the files here become again what they were, and a
  /// run sends that. Cut off, the next command finishes it. See undo/plan_undo.hpp. Fails with `not_found`.
  Result<UndoReport> undo(const UndoOptions& options);
  /// Renames a file or folder here, and edits the links that name it. One operation. See relink/relink.hpp.
  Result<Relinked> move(const RelativePath& from, const RelativePath& to, bool dry_run);
  /// Edits the links that a rename broke. One operation.
  Result<Relinked> fix_links(const FixOptions& options, bool dry_run);
  /// Links that lead nowhere, of a note or of those below a folder; empty: of all. No network.
  Result<CheckedLinks> broken_links(const std::string& place);
  /// Drops old states from the history. See state/history_gc.hpp.
  Result<GcReport> gc(const GcOptions& options);

  /// This tree's own open conflicts. No network.
  Result<std::vector<Conflict>> conflicts() const;
  Result<ConflictTexts> texts(const Conflict& conflict) const;
  /// What a service that went back to an older state would take back. Asks it for all that it has.
  Result<Rewound> rewound();
  /// What is known of both files of a conflict `attachment`; empty: none is open there.
  Result<std::optional<OpenAttachment>> open_attachment(const RelativePath& path) const;
  /// The document of the list of attachments that names the file; empty: none is known.
  Result<DocumentId> list_part_of(const RelativePath& file) const;
  /// The command line in the record of what the next call does.
  void set_command(std::string command);
  /// Decides one conflict here and on the service. `merged` needs the text. What is decided about names, or about a
  /// service that went back, is carried out by the next run. Fails with `not_found`, `usage` or `conflict` (the
  /// service's text changed again: the conflict now shows it; or something stands in the way).
  Result<void> resolve(const Conflict& conflict, Keep keep, const std::optional<std::string>& merged = {});
  /// Several at once, with one result for each: they wait for the disk together. A failure that is not about one
  /// conflict alone ends the call, and is the result of those that were not decided yet too.
  Result<std::vector<Result<void>>> resolve(const std::vector<Choice>& choices);
  /// How a conflict is by now, recorded so; empty: it is open no more. See conflicts/recorded_conflict.hpp.
  Result<std::optional<Conflict>> refresh_conflict(const Conflict& conflict);
  /// Writes the merge of both texts into the working file, with diff3 markers where they collide. The conflict stays
  /// open.
  Result<void> write_markers(const Conflict& conflict);
  /// The text that ends a conflict where none is given: the working file, if it was edited since; else the clean merge.
  /// Fails with `usage` where markers are left, or the texts collide.
  Result<std::string> merged_text(const Conflict& conflict);

 private:
  explicit SyncEngine(std::unique_ptr<RunContext> context);
  std::unique_ptr<RunContext> context_;
};

}  // namespace ws::sync
