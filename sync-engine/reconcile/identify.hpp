/// Which document each file on disk is. Pure.
#pragma once

#include <functional>
#include <vector>

#include "sync-engine/model.hpp"
#include "sync-engine/reconcile/renames.hpp"

namespace ws::sync {

struct FoundTree {
  std::vector<FoundFile> files = {};
  std::vector<Skipped> skipped = {};  ///< for people: Markdown that is left alone, folders that could not be read
  /// Everything that could not be looked at, links and ignored folders too: no document at or beneath one is deleted.
  std::vector<Skipped> closed = {};
};

/// What is asked of those who can see more than the walk found.
struct IdentifyOptions {
  std::function<bool(const RelativePath&)> ignored = {};  ///< whether the rules hide this path now
  RenameEvidence renames = {};                            ///< without it only equal texts tell a renamed file
};

/// Known documents keep their files by path, in whatever Unicode form the disk has it; those that were renamed are told
/// by `renames`. Of twins the tracked one, else the bytewise smaller, is kept and the other skipped.
LocalTree identify(const BaseTree& base, const FoundTree& found, const IdentifyOptions& options = {});

}  // namespace ws::sync
