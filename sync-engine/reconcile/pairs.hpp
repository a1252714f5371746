/// The table of pairs: one document of the base, what happened to it here and there, and what follows.
#pragma once

#include "sync-engine/model.hpp"
#include "sync-engine/reconcile/change.hpp"
#include "sync-engine/reconcile/reconcile.hpp"

namespace ws::sync {

struct Pair {
  DocumentId document;
  Entry base;
  SideChange here;
  SideChange there;
  bool path_taken_there = false;  ///< another document stands at the base's path now
};

/// Adds to `plan` what follows for this document alone; clashes of paths between documents are not its business.
void decide_pair(const Pair& pair, const ReconcileOptions& options, Plan& plan);

}  // namespace ws::sync
