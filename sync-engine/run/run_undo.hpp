/// An undo as a call: plan, journal, steps on disk, then a run restricted to these paths.
#pragma once

#include <set>

#include "sync-engine/run/begin.hpp"

namespace ws::sync {

/// See SyncEngine::undo.
Result<UndoReport> undo_operation(RunContext& context, const UndoOptions& options);
/// The steps on the disk of one that was cut off, where they are not done yet: what comes before its commit is
/// recorded. Returns the paths where it left no file.
Result<std::set<RelativePath>> finish_steps_here(Session& session, Operation& undoing);
/// Finishes one that was cut off, or a rename with its links.
Result<void> finish_interrupted_undo(RunContext& context, const Operation& undoing);

}  // namespace ws::sync
