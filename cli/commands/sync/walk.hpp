/// `ws sync resolve` without PATH: resolves the conflicts with the user, one after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/commands/sync/tree.hpp"

namespace ws::cli {

struct WalkReport {
  std::size_t left_open = 0;
  bool stopped = false;  ///< a signal, or the terminal is gone
};

/// Leads through all of them. What is decided is decided at once; the rest stays open. Fails with what ends everything:
/// no key, no network, no disk.
Result<WalkReport> walk_conflicts(Session& session, SyncTree& tree, const std::vector<sync::Conflict>& conflicts);

}  // namespace ws::cli
