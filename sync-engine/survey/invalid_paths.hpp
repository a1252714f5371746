/// Documents whose path on the service breaks a rule (`safety.md`, "Path rules"): never written, and listed by each run
/// until the service has another place for them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sync-engine/state/state_store.hpp"
#include "sync-engine/survey/incoming.hpp"

namespace ws::sync {

/// Those that are known once a pull has come.
InvalidPaths invalid_paths_after(const InvalidPaths& before, const Incoming& incoming);

/// Writes what differs.
Result<void> store_invalid_paths(StateStore& state, const InvalidPaths& before, const InvalidPaths& now);

/// As people are told: in order, each name once. `without_id`: the paths of those that came without an id.
std::vector<Skipped> skipped_invalid_paths(const InvalidPaths& invalid_paths,
                                           const std::set<std::string>& without_id = {});

}  // namespace ws::sync
