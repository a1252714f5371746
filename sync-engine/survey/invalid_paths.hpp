/// Documents whose path on the service breaks a rule (`safety.md`, "Path rules"): never written, and reported by every
/// run until they are renamed there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sync-engine/state/state_store.hpp"
#include "sync-engine/survey/incoming.hpp"

namespace ws::sync {

/// The set after a pull.
InvalidPaths invalid_paths_after(const InvalidPaths& before, const Incoming& incoming);

/// Stores the differences.
Result<void> store_invalid_paths(StateStore& state, const InvalidPaths& before, const InvalidPaths& now);

/// For the report: sorted, each name once. `without_id`: the paths of documents that came without an id.
std::vector<Skipped> skipped_invalid_paths(const InvalidPaths& invalid_paths,
                                           const std::set<std::string>& without_id = {});

}  // namespace ws::sync
