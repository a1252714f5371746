/// The places that actions free here, and which files that had to wait for one have room then. A run looks again for
/// these once it is through; what only looks tells what that comes to.
#pragma once

#include <set>
#include <vector>

#include "sync-engine/model/action.hpp"
#include "sync-engine/model/plan.hpp"
#include "sync-engine/reconcile/overlapping_paths.hpp"

namespace ws::sync {

class FreedPlaces {
 public:
  FreedPlaces() = default;
  explicit FreedPlaces(const std::vector<Action>& actions) {
    for (const Action& action : actions) add(action);
  }
  void add(const Action& action) {
    if (!frees_place_here(action.kind)) return;
    const RelativePath& place = action.previous_path.value_or(action.path);
    overlapping_.add(place.twin_key());
    places_.insert(place);
  }
  const std::set<RelativePath>& places() const { return places_; }
  /// Whether the path, one above or one beneath it is freed, whatever its case.
  bool overlaps(const RelativePath& path) const { return overlapping_.overlaps(path.twin_key()); }
  /// Whether a file that was skipped as a twin, or for a folder of its name, can be synced then.
  bool has_room_for(const Skipped& file) const {
    if (file.reason != SkipReason::twin) return false;
    const auto path = RelativePath::parse(file.path);
    return path && overlaps(*path);
  }

 private:
  std::set<RelativePath> places_;
  OverlappingPaths overlapping_;
};

}  // namespace ws::sync
