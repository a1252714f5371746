/// Carries out decisions of conflicts, on the service and in the tree.
#pragma once

#include <optional>
#include <vector>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// Order: the service first; then files, base and state of many conflicts together (`decided_block.hpp`). The old text
/// of a file goes to the history before the file changes. After an interruption the next run finds both sides equal, or
/// the same conflicts still open.
///
/// One result for each choice. A failure that is not about one conflict alone (no network, no key) ends the call and is
/// the result of all that were not carried out.
std::vector<Result<void>> decide_conflicts(Session& session, const std::vector<Choice>& choices);

/// The action that a report shows for a decision; empty where the next plan carries it out and has rows of its own.
std::optional<ActionKind> decided_as(const Conflict& conflict, Keep keep);
/// The same for a preview, which has no next plan; empty where it cannot be told before.
std::optional<ActionKind> planned_as(const Conflict& conflict, Keep keep);

}  // namespace ws::sync
