/// Decides what holds after a service was restored from a backup.
#pragma once

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// `local`: the local state counts as an edit of what the service has now, and the next run pushes it. `remote`: the
/// reverse; replaced and removed texts are in the history, and the delete guard counts them. Applies to one document,
/// or, where the service as a whole went back, to all documents after a full listing. Sends nothing. Fails with `usage`
/// for `both` and `merged`, or as the service does.
Result<void> decide_rewound(Session& session, const Conflict& conflict, Keep keep);

}  // namespace ws::sync
