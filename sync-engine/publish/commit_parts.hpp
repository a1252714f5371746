/// Splits a push into commits.
///
/// The answer to a commit is one bounded JSON value, which limits its items. Paths are checked after all items of a
/// commit took effect: so documents that exchange paths are in one commit, and moves and deletes go before the rest.
#pragma once

#include <cstddef>
#include <vector>

#include "sync-engine/state/state_store.hpp"

namespace ws::sync {

struct CommitParts {
  std::vector<std::size_t> order;  ///< the places of the items, in the order in which they go
  std::vector<std::size_t> ends;   ///< of each part, in `order`
};

/// At most `most` items a part, unless more of them change places with each other.
CommitParts commit_parts(const std::vector<const StagedItem*>& items, std::size_t most);

}  // namespace ws::sync
