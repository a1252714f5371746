/// Decides what holds after a service was restored from a backup.
#pragma once

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// `local`: what is here is an edit of what the service has now, and goes there with the next run. `remote`: the
/// reverse; what is replaced or goes is in the history, and the guard counts it. For one document, or, where the
/// conflict stands for the service as a whole, for all of them after a full listing. Nothing is sent. Fails with
/// `usage` for `both` and `merged`, or as the service does.
Result<void> decide_rewound(Session& session, const Conflict& conflict, Keep keep);

}  // namespace ws::sync
