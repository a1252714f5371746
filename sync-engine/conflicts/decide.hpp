/// A person's word on conflicts, carried out on the service and here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// The service first; then the files, the base and the state, of many conflicts together (`decided_block.hpp`). What a
/// file held goes to the history before it changes. Interrupted in between, the next run finds both sides equal, or the
/// same conflicts again.
///
/// One result for each choice. A failure that is not about one conflict alone ends the call: those that were not asked
/// yet have it too.
std::vector<Result<void>> decide_conflicts(Session& session, const std::vector<Choice>& choices);

/// What a decision comes to, as a row of a report; empty for what is about names, for a service that went
/// back, and for what the next plan carries out.
std::optional<ActionKind> decided_as(const Conflict& conflict, Keep keep);

}  // namespace ws::sync
