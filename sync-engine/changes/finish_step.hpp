/// The journal of steps on disk: what follows from a step that is done, and recovery after an interruption.
#pragma once

#include "sync-engine/session/session.hpp"
#include "sync-engine/state/history.hpp"
#include "sync-engine/state/state_store.hpp"

namespace ws::sync {

/// Moves the base of its document, clears its pending row, and records the operation and whose file the step placed, in
/// the caller's transaction.
Result<void> finish_step(Session& session, const JournalStep& step, ChangeOrigin origin);

/// What a step does to the file.
FileStep file_step_of(const JournalStep& step);

/// How the operation records a step.
ChangeOrigin origin_of(const Action& action);

/// The change of the history's tree for a step.
void collect_texts(const JournalStep& step, TextChanges& after);

/// Finishes or undoes what an interrupted run left: steps on disk, texts in `.ws/tmp`.
Result<void> recover_steps(Session& session);

}  // namespace ws::sync
