/// Undoes an operation: surveys both sides, plans, and journals the steps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sync-engine/model/report.hpp"
#include "sync-engine/state/attachment_store.hpp"
#include "sync-engine/survey/survey.hpp"
#include "sync-engine/tree/scan.hpp"
#include "sync-engine/undo/plan_undo.hpp"

namespace ws::sync {

struct UndoOptions {
  std::optional<std::uint64_t> operation = {};  ///< empty: the last that is not taken back
  bool redo = false;                            ///< unasked: the last undo, instead of the last run
  bool allow_deletes = false;                   ///< confirms the guard
  bool dry_run = false;
  WantedPath only = {};  ///< empty: all
};

struct UndoReport {
  Operation undone = {};                ///< what was to be taken back
  std::vector<Operation> passed = {};   ///< later ones of which nothing was left to take back
  Report report = {};                   ///< of the run that took it back; of a dry run: as planned
  std::vector<LeftAlone> left = {};     ///< what was not
  std::vector<OperationRow> anew = {};  ///< documents that are archived and return with a new id
  bool was_begun = false;               ///< an earlier call had begun it, and this one finished it
  /// Where nothing of it can be undone: the run before it that could be; empty: there is none.
  std::optional<std::uint64_t> further_back = {};
};

/// Which operation is meant; unasked, none of the `passed`. One of which something is left is never skipped: a setting
/// or a later edit may be the reason, and can end. An older run is then named, not taken back unasked. Fails with
/// `not_found`.
Result<Operation> find_operation(StateStore& state,
                                 const UndoOptions& options,
                                 const std::vector<Operation>& passed = {});

/// An undo that is planned against what both sides are now.
struct PlannedUndo {
  UndoPlan undo = {};
  Survey survey;  ///< `survey.plan` is what the run that follows does, and nothing else
  /// Of files that the undo is about and the service has made documents of meanwhile: what a run would agree on.
  std::map<DocumentId, BaseRow> matched = {};
  /// Of files: the decided conflicts that are opened again, by their paths.
  std::map<RelativePath, OpenAttachment> opened_again = {};
  bool is_stopped = false;  ///< the service went back, is empty or another one: see the plan
};

/// `no`: where nothing of the operation was sent.
enum class AsksService { yes, no };

/// Plans the undo of rows of `undone` about notes (those about other files: `plan_file_undo`) and, with the reconciler,
/// its effect on the service; a document whose undo would conflict there is skipped. Changes nothing but the stat
/// cache. `leaving`: where such other files go, so that a note may come there. Fails as `survey` does.
Result<PlannedUndo> prepare_undo(Session& session,
                                 const std::vector<OperationRow>& rows,
                                 const std::set<RelativePath>& leaving,
                                 const UndoOptions& options,
                                 const Operation& undone,
                                 AsksService asks);

}  // namespace ws::sync
