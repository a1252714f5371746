/// `ws sync resolve` in front of a person: one conflict after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/commands/sync_tree.hpp"

namespace ws::cli {

struct WalkReport {
  std::size_t left_open = 0;
  bool stopped = false;  ///< a signal, or the terminal is gone
};

/// Whether somebody is there to be led through: a terminal on both ends, no CI, no `--no-input`.
bool may_walk(Session& session);

/// Leads through all of them. What is decided is decided at once; the rest stays open. Fails with what ends everything:
/// no key, no network, no disk.
Result<WalkReport> walk_conflicts(Session& session, SyncTree& tree, const std::vector<sync::Conflict>& conflicts);

}  // namespace ws::cli
