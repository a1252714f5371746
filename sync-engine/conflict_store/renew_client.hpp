/// A tree that was copied with its `.ws/`.
#pragma once

#include <filesystem>

#include "api-client/base/clock.hpp"
#include "api-client/base/owner.hpp"
#include "api-client/base/random.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/binding/tree_binding.hpp"

namespace ws::sync {

/// Gives the tree a `client_id` of its own: for one that was copied with its `.ws/`. Fails with `disk`.
Result<TreeBinding> renew_client(const std::filesystem::path& root,
                                 const Clock& clock,
                                 Random& random,
                                 const TrustedFolders& trusted = {});

}  // namespace ws::sync
