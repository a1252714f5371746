/// Which document each file on disk is. Pure.
#pragma once

#include <functional>
#include <vector>

#include "sync-engine/model/found_files.hpp"
#include "sync-engine/model/plan.hpp"
#include "sync-engine/reconcile/renames.hpp"

namespace ws::sync {

/// What is asked of those who can see more than the walk found.
struct IdentifyOptions {
  std::function<bool(const RelativePath&)> ignored = {};  ///< whether the rules hide this path now
  RenameEvidence renames = {};                            ///< without it only equal texts tell a renamed file
  /// All that the walk met and left alone. Asked only where a document is missing.
  std::function<std::vector<HiddenFile>()> hidden = {};
  std::function<bool(const RelativePath&)> busy = {};  ///< whether a file that was found is still being written
};

/// Known documents keep their files by path, in whatever Unicode form the disk has it; those that were renamed are told
/// by `renames`. Of twins the tracked one at its place, else the bytewise smaller, is kept and the other skipped.
///
/// A document whose file was renamed to what is hidden now is hindered alike. While a file is busy whose number is
/// nobody's, whatever is missing may be it: that waits too, with all that was put in its place. What is missing is
/// hindered as well, and not deleted, while a folder cannot be listed or a name cannot be looked at.
LocalTree identify(const BaseTree& base, const FoundTree& found, const IdentifyOptions& options = {});

}  // namespace ws::sync
