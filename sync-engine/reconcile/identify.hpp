/// Which document each file on disk is. Pure.
#pragma once

#include <functional>
#include <vector>

#include "sync-engine/model/found_files.hpp"
#include "sync-engine/model/plan.hpp"
#include "sync-engine/reconcile/renames.hpp"

namespace ws::sync {

/// Callbacks for facts that the walk does not hold.
struct IdentifyOptions {
  std::function<bool(const RelativePath&)> ignored = {};  ///< whether the rules hide this path now
  /// Whether a placeholder in the place of a missing file tells that another program keeps it.
  std::function<bool(const RelativePath&)> elsewhere = {};
  RenameEvidence renames = {};  ///< without it only equal texts tell a renamed file
  /// All that the walk met and left alone. Asked only where a document is missing.
  std::function<std::vector<HiddenFile>()> hidden = {};
  std::function<bool(const RelativePath&)> busy = {};  ///< whether a file that was found is still being written
  std::function<bool(const RelativePath&)> made = {};  ///< whether this program made the file: then it is a new one
};

/// A known document is matched to its file by path, in any Unicode form; renamed files are found by `renames`. Of twins
/// the tracked one at its path, else the bytewise smaller name, is kept and the other skipped.
///
/// Invariant: a missing file is a delete only where every name was seen. A document whose file was renamed to a hidden
/// name is unsyncable. While an unknown file is still being written, it may be any of the missing ones, so all missing
/// documents wait, with whatever took their paths; likewise while a folder cannot be listed or a name not be read.
LocalTree identify(const BaseTree& base, const FoundTree& found, const IdentifyOptions& options = {});

}  // namespace ws::sync
