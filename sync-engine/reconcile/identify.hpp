/// Which document each file on disk is. Pure.
#pragma once

#include <functional>
#include <vector>

#include "sync-engine/model.hpp"

namespace ws::sync {

/// What a walk of the disk found.
struct FoundFile {
  RelativePath path;
  Sha256 hash = {};
  auto operator<=>(const FoundFile&) const = default;
};

struct FoundTree {
  std::vector<FoundFile> files = {};
  std::vector<Skipped> skipped = {};  ///< for people: Markdown that is left alone, folders that could not be read
  /// Everything that could not be looked at, links and ignored folders too: no document at or beneath one is deleted.
  std::vector<Skipped> closed = {};
};

/// Known documents keep their files by path, in whatever Unicode form the disk has it. Of twins the tracked one, else
/// the bytewise smaller, is kept and the other skipped. `ignored` says whether a path is ignored now.
LocalTree identify(const BaseTree& base,
                   const FoundTree& found,
                   const std::function<bool(const RelativePath&)>& ignored = {});

}  // namespace ws::sync
