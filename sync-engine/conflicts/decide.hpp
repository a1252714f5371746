/// A person's word on a conflict, carried out on the service and here.
#pragma once

#include <optional>
#include <string>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// The service first; then the file, the base and the state. What the file held goes to the history before it changes.
/// Interrupted in between, the next run finds both sides equal, or the same conflict again.
Result<void> decide_conflict(Session& session,
                             const Conflict& conflict,
                             Keep keep,
                             const std::optional<std::string>& merged);

/// What a decision comes to, as a row of a report; empty for what is about names, for a service that went
/// back, and for what the next plan carries out.
std::optional<ActionKind> decided_as(const Conflict& conflict, Keep keep);

}  // namespace ws::sync
