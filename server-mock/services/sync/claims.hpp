/// Whether the paths that many changes want at once are free (`decisions.md`, "commit").
///
/// Free is a path that no other document holds once all that is applied took effect, so swaps and chains work; and one
/// that neither is a folder of another's path nor has a file where it needs a folder. A change whose path is not free
/// keeps the path that it has, so whoever counted on that one fails too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct PathChange {
  std::string document_id = {};           ///< empty: a new document
  std::optional<std::string> wants = {};  ///< the path it is to have; empty: it keeps its own, or goes
  bool leaves = false;                    ///< gives up the path that it has now (moved or deleted)
};

struct Clash {
  std::string holder_id =
      {};  ///< the document at the very path; empty: another change wants it, or a folder stands there
};

/// For each change, in order, what stands in its way; empty: its path is free. Of two that want one path the first gets
/// it. Linear in the changes, three index look-ups each.
Result<std::vector<std::optional<Clash>>> settle_paths(World& world,
                                                       const std::string& source_id,
                                                       const std::vector<PathChange>& changes);

}  // namespace ws::mock
