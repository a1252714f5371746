/// The table of pairs: one document of the base, what happened to it here and there, and what follows.
#pragma once

#include "sync-engine/model/change.hpp"
#include "sync-engine/model/plan.hpp"
#include "sync-engine/reconcile/reconcile.hpp"

namespace ws::sync {

struct Pair {
  DocumentId document;
  Entry base;
  SideChange here;
  SideChange there;
  RelativePath disk_path;         ///< where its file lay; elsewhere than `base.path` where that place was taken
  bool path_taken_there = false;  ///< another document stands at the base's path now
  bool folder_there = false;      ///< documents of the service stand beneath the base's path now

  bool is_displaced() const { return disk_path != base.path; }
};

/// Renamed here, its bytes as agreed, and archived there: the file stays, and goes out as a new document.
bool is_created_anew(const Pair& pair, const ReconcileOptions& options);

/// Adds to `plan` what follows for this document alone; clashes of paths between documents are not its business.
void decide_pair(const Pair& pair, const ReconcileOptions& options, Plan& plan);

}  // namespace ws::sync
