/// The places that actions free here, and which files that had to wait for one have room then. A run looks again for
/// these once it is through; what only looks tells what that comes to.
#pragma once

#include "sync-engine/model/action.hpp"
#include "sync-engine/model/plan.hpp"
#include "sync-engine/reconcile/overlapping_paths.hpp"

namespace ws::sync {

class FreedPlaces {
 public:
  void add(const Action& action) {
    if (frees_place_here(action.kind)) places_.add(action.previous_path.value_or(action.path).twin_key());
  }
  void add(const std::vector<Action>& actions) {
    for (const Action& action : actions) add(action);
  }
  bool overlaps(const RelativePath& path) const { return places_.overlaps(path.twin_key()); }
  /// Whether a file that was skipped as a twin, or for a folder of its name, can be synced then.
  bool has_room_for(const Skipped& file) const {
    const auto path = file.reason == SkipReason::twin ? RelativePath::parse(file.path) : RelativePath::parse("");
    return path && overlaps(*path);
  }

 private:
  OverlappingPaths places_;
};

}  // namespace ws::sync
