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
Misnamed misnamed_after(const Misnamed& before, const Incoming& incoming);

/// Writes what differs.
Result<void> put_misnamed(StateStore& state, const Misnamed& before, const Misnamed& now);

/// As people are told: in order, each name once. `nameless`: the paths of those that came without an id.
std::vector<Skipped> skipped_for_name(const Misnamed& misnamed, const std::set<std::string>& nameless = {});

}  // namespace ws::sync
