/// A recorded run taken back for the files that notes show: which steps, and the steps done. The run that follows sends
/// that.
#pragma once

#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/undo/undo.hpp"

namespace ws::sync {

/// Whether the row is about a file that was no note then: the history has texts of notes only.
bool is_about_file(const OperationRow& row);
/// Whether the step is about the bytes of one. A rename alone is not: its bytes stay.
bool is_about_bytes(const FileStep& step);

/// Adds the steps of those rows of `undone` to the plan of the notes, and answers what the run that follows does about
/// these files: planned with the steps against what the service has. A file that changed since is left alone where the
/// two changes collide, and so is one that the service has and that a rule keeps from it now.
Result<std::vector<Action>> plan_file_undo(Session& session,
                                           const Operation& undone,
                                           const std::vector<OperationRow>& rows,
                                           const UndoOptions& options,
                                           AsksService asks,
                                           PlannedUndo& planned);

/// Before anything is changed: fails with `usage` where bytes have to be fetched and there is no service.
Result<void> check_bytes_at_hand(const Session& session, const std::vector<FileStep>& steps);

/// Does the steps, or what is left of them after an interruption. Bytes come from this tree, else from the service.
/// Answers what was left. Fails with what ends everything; then the steps are still journalled. `was_begun`: by an
/// earlier call; what its service refused once more is left.
Result<std::vector<LeftAlone>> undo_attachments(Session& session, const std::vector<FileStep>& steps, bool was_begun);

}  // namespace ws::sync
