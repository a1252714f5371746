/// A recorded run taken back for the files that notes show: which steps.
#pragma once

#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/undo/undo.hpp"

namespace ws::sync {

/// Adds the steps of those rows of `undone` to the plan of the notes, and answers what the run that follows does about
/// these files: planned with the steps against what the service has. A file that changed since is left alone where the
/// two changes collide, and so is one that the service has and that a rule keeps from it now.
Result<std::vector<Action>> plan_file_undo(Session& session,
                                           const Operation& undone,
                                           const std::vector<OperationRow>& rows,
                                           const UndoOptions& options,
                                           AsksService asks,
                                           PlannedUndo& planned);

}  // namespace ws::sync
