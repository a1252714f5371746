/// What follows from a step once it can be seen on disk.
#pragma once

#include "sync-engine/session/session.hpp"
#include "sync-engine/state/history.hpp"
#include "sync-engine/state/state_store.hpp"

namespace ws::sync {

/// The base of its document, what is pending for it, and the row of the operation. Within the caller's transaction.
Result<void> finish_step(StateStore& state, const JournalStep& step, Way way);

/// What a step on disk does to its document.
Way way_of(const Action& action);

/// How the tree of the history changes with it.
void collect_texts(const JournalStep& step, TextChanges& after);

/// Finishes or undoes what an interrupted run left: steps on disk, texts in `.ws/tmp`.
Result<void> recover_steps(Session& session);

}  // namespace ws::sync
