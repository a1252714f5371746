/// Where a history ends though its commits name parents: git's own file for it, as in a shallow clone.
#pragma once

#include <filesystem>
#include <set>

#include "api-client/base/result.hpp"
#include "sync-engine/git/object.hpp"

namespace ws::sync::git {

/// The commits of the repository at `path` whose parents were dropped. Fails with `disk` or `integrity`.
Result<std::set<ObjectId>> read_shallow(const std::filesystem::path& path);

}  // namespace ws::sync::git
