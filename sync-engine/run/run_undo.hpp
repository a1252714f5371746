/// An undo as a call: plan, journal, steps on disk, then a run restricted to these paths.
#pragma once

#include "sync-engine/run/run_context.hpp"

namespace ws::sync {

/// See SyncEngine::undo.
Result<UndoReport> undo_operation(RunContext& context, const UndoOptions& options);
/// Finishes one that was cut off, or a rename with its links.
Result<void> finish_interrupted_undo(RunContext& context, const Operation& undoing);

}  // namespace ws::sync
