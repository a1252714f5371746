/// Checks whether the paths that several changes want at once are free (`decisions.md`, "commit").
///
/// A path is free if no other document has it after all changes are applied (so swaps and chains work), if it is not a
/// folder of another path, and if no file has the name of one of its folders. A change whose path is not free keeps its
/// old path, so changes that depend on that one fail too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct PathChange {
  std::string document_id = {};           ///< empty: a new document
  std::optional<std::string> wants = {};  ///< the wanted path; empty: unchanged, or deleted
  bool leaves = false;                    ///< frees its current path (move or deletion)
};

struct Clash {
  std::string holder_id = {};  ///< the document with that path; empty: another change wants it, or it is a folder
};

/// For each change, in order, what prevents it; empty: its path is free. If two want the same path, the first gets it.
/// Linear in the number of changes, with three index look-ups each.
Result<std::vector<std::optional<Clash>>> check_paths(World& world,
                                                      const std::string& source_id,
                                                      const std::vector<PathChange>& changes);

}  // namespace ws::mock
