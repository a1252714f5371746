/// The three-way reconciler: compares base, local and remote tree and plans what makes both sides equal again. Pure: no
/// disk, no network, no clock.
///
/// `sync.md`, "Every pair of changes", is its specification, and tests/sync-engine/reconcile/matrix_test.cpp that table
/// as data. Invariants, which planner_property_test.cpp checks on random worlds: no text is lost, a change of one side
/// alone is never a conflict, equal changes are never a conflict, and what cannot be read is never deleted. Whatever
/// cannot be decided by these is a conflict or is skipped.
#pragma once

#include <set>

#include "sync-engine/model/plan.hpp"

namespace ws::sync {

struct ReconcileOptions {
  bool merge = true;                    ///< edits on both sides become `merge`; false: a conflict at once
  bool accept_deletes = false;          ///< a local delete wins over a remote edit or move
  bool allow_deletes = false;           ///< the guard is confirmed
  Half half = Half::both;               ///< what the guard weighs
  std::set<DocumentId> colliding = {};  ///< edited on both sides with overlapping changes: a conflict
};

/// Rows in order of path. A `merge` row is a proposal: the caller, who has the texts, tries the merge and calls again
/// with the documents whose changes overlap in `colliding`.
Plan reconcile(const BaseTree& base,
               const LocalTree& local,
               const RemoteTree& remote,
               const ReconcileOptions& options = {});

}  // namespace ws::sync
