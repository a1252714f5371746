/// The steps of an undo on the disk.
#pragma once

#include <vector>

#include "sync-engine/session/session.hpp"
#include "sync-engine/undo/plan_undo.hpp"

namespace ws::sync {

/// Does them, or what is left of them after an interruption: a step whose file is neither as it was seen nor as it is
/// to become is left, for somebody changed it meanwhile. What goes or is replaced is in the history first; all of it is
/// durable when it returns. Answers what was left. Fails with what ends everything; then the steps are still
/// journalled.
Result<std::vector<LeftAlone>> take_back_here(Session& session, const std::vector<UndoStep>& steps);
/// Which file each renamed document has now: a file that got another text as well is a new one, and the run that
/// follows would not know whose it is.
Result<void> record_renamed_files(Session& session, const std::vector<UndoStep>& steps);

}  // namespace ws::sync
