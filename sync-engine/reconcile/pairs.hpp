/// The decision table for one document of the base: its change on either side, and the actions that follow.
#pragma once

#include "sync-engine/model/change.hpp"
#include "sync-engine/model/plan.hpp"
#include "sync-engine/reconcile/reconcile.hpp"

namespace ws::sync {

struct Pair {
  DocumentId document;
  Entry base;
  SideChange local;
  SideChange remote;
  RelativePath disk_path;         ///< where its file lay; elsewhere than `base.path` where that place was taken
  bool path_taken_there = false;  ///< another document stands at the base's path now
  bool left_out = false;          ///< `BaseTree::left_out`
  bool folder_there = false;      ///< documents of the service stand beneath the base's path now

  bool is_displaced() const { return disk_path != base.path; }
};

/// Renamed here with its text unchanged, and archived on the service: the file is kept and pushed as a new document.
bool is_created_anew(const Pair& pair, const ReconcileOptions& options);

/// Archived on the service while its file was out of sight here, and the file is as it was: it is kept, and told.
bool is_kept_though_gone(const Pair& pair);

/// Adds the actions of this document to `plan`. Path clashes between documents are settled later (clashes.hpp).
void decide_pair(const Pair& pair, const ReconcileOptions& options, Plan& plan);

}  // namespace ws::sync
