/// The heart: what must happen so that both sides agree again. Pure: no disk, no network, no clock.
///
/// `sync.md`, "Every pair of changes", is its specification, and tests/sync-engine/reconcile/matrix_test.cpp that table
/// as data. What it cannot decide safely it reports as a conflict or leaves alone; it never guesses.
#pragma once

#include <set>

#include "sync-engine/model/plan.hpp"

namespace ws::sync {

struct ReconcileOptions {
  bool merge = true;                    ///< edits on both sides become `merge`; false: a conflict at once
  bool accept_deletes = false;          ///< a local delete wins over a remote edit or move
  bool allow_deletes = false;           ///< the guard is confirmed
  std::set<DocumentId> colliding = {};  ///< edited on both sides, in a way that no merge brings together: a conflict
};

/// Rows in order of path. A `merge` row is a proposal: whoever has the texts and finds that they collide says so, and
/// asks again.
Plan reconcile(const BaseTree& base,
               const LocalTree& local,
               const RemoteTree& remote,
               const ReconcileOptions& options = {});

/// Promise 6 of `safety.md`: set where the plan deletes so much, on either side, that a person must say so. What is
/// merely absent from a listing counts as a delete here, and a text that becomes empty as a delete on its side.
bool loses_too_much(std::size_t lost, std::size_t tracked);
bool loses_text(const Action& action);  ///< whether the guard counts it
std::optional<Guard> guard_of(const Plan& plan, std::size_t tracked, std::size_t absent);

}  // namespace ws::sync
