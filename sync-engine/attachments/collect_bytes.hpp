/// Drops old bytes from `.ws/attachments`, as `collect_history` drops old texts from the history.
#pragma once

#include "sync-engine/session/session.hpp"
#include "sync-engine/state/history_gc.hpp"

namespace ws::sync {

/// Bytes stay if a state within the time to keep has them, or the state in force when that time began; if an open
/// conflict, an operation that can be undone, an upload in doubt or a row of the list names them; and if their file is
/// younger. States whose bytes are neither here nor on the service are deleted with them. Adds to the report. After an
/// interruption the next call drops the rest. The caller holds the tree's lock (a dry run needs none). Fails with
/// `disk`, or as the store does.
Result<void> collect_bytes(Session& session, const GcOptions& options, GcReport& report);

}  // namespace ws::sync
