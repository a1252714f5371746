/// Edits of the user's files outside a plan: an undo, a rename with its links, a text that is brought back.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sync-engine/disk/background.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/state/operations.hpp"

namespace ws::sync {

/// Reads texts of `made` from the history for another purpose, and calls `take` with each and its index, in order; it
/// may stop early.
using ReadsTexts = std::function<void(const std::vector<const FileStep*>& made,
                                      const std::function<void(std::size_t place, const std::string& text)>& take)>;

/// Flushes the file system in the background while edits of many files are planned: what other programs have written
/// would delay the first flush of its own files. Its destructor waits for the end.
class FlushAhead {
 public:
  FlushAhead(const Session& session, std::size_t files);

 private:
  Background background_;
};

/// Carries out the steps, or the rest of them after an interruption: of notes, whose texts the history has, and of the
/// files that notes show, whose bytes lie in `.ws/attachments`. A step whose file is in neither its old nor its new
/// state is left out, as the user changed it. Invariant: a text is in the history before it is replaced or removed; for
/// bytes the caller has seen to that.
/// On failure the steps are still journalled.
class FileEdits {
 public:
  /// `steps` outlive it. `was_begun`: an earlier call may have done some of them.
  FileEdits(Session& session, const std::vector<FileStep>& steps, bool was_begun);
  FileEdits(FileEdits&&) noexcept;
  ~FileEdits();  ///< waits until nothing is under way
  /// On return every text was read; writing them and moving the files to their places may still be under way.
  /// `reads`: used for many new files, so that each text is read once.
  Result<void> begin(const ReadsTexts& reads = {});
  /// Runs `job` in the background once all is in place; `end` waits for it too.
  void then(std::function<void()> job);
  /// Waits; all is durable on return. Returns what was left out.
  Result<std::vector<LeftAlone>> end();
  /// Those, by their index, and what became of them.
  const std::map<std::size_t, Failure>& refused() const;
  /// After the end: whose files those are that the steps wrote and moved (`session/written_files.hpp`), and of the
  /// files that notes show whose wish they are. Within the caller's transaction.
  Result<void> record();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};
struct DoneSteps {
  std::vector<LeftAlone> left = {};
  std::map<std::size_t, Failure> refused = {};  ///< those, by the index of the step: what became of it
};
/// What else is recorded with the end of the steps, in the same transaction.
using RecordsSteps = std::function<Result<void>(const DoneSteps& done)>;

/// Changes files of the user outside a plan: writes the rows and the steps into the journal of the open operation, does
/// the steps, and records whose files those are. The bytes that come are in `.ws/attachments` already. Cut off
/// anywhere, the next command ends them. What was left out stays as it was, and its row goes from the operation (a row
/// of a run is the caller's matter); all that ends the program is a failure, and then the steps are still journalled.
/// `decided`: recorded with the rows, for the undo.
Result<DoneSteps> carry_out_steps(Session& session,
                                  const std::vector<FileStep>& steps,
                                  const std::vector<OperationRow>& rows = {},
                                  const RecordsSteps& record = {},
                                  const std::vector<DecidedText>& decided = {});
/// The same of one. Fails where it was left out. Without an origin no run shows it.
Result<void> carry_out_step(Session& session, const FileStep& step, std::optional<ChangeOrigin> origin);
/// Of a failure after the steps were journalled: some may be made, and the next command makes the rest.
Failure maybe_made(Failure failure);
/// The rest of it after an interruption.
Result<DoneSteps> finish_steps(Session& session, std::uint64_t operation);

/// Records the files whose texts the steps are about to replace. Within the caller's transaction.
Result<void> record_steps_to_write(Session& session, const std::vector<FileStep>& steps);

}  // namespace ws::sync
