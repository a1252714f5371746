/// Drops history older than a time, except what the state of the tree needs.
#pragma once

#include "sync-engine/session/session.hpp"
#include "sync-engine/state/history_gc.hpp"

namespace ws::sync {

/// The caller holds the tree's lock (a dry run needs none). Fails as `collect_history`, or as the state does.
Result<GcReport> collect_garbage(Session& session, const GcOptions& options);

}  // namespace ws::sync
