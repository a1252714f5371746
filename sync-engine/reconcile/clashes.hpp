/// Two documents that want one place on disk: found, and settled so that no file is ever written over another.
#pragma once

#include "sync-engine/model.hpp"

namespace ws::sync {

/// Looks at every file that would arrive (`pull_create`, `pull_move`). Where its place is held by a file that stays, or
/// lies beneath one, the arrival becomes a conflict `path` and the file on disk keeps its name; where the names differ
/// only in case or form it is skipped as a `twin`. A document that leaves its place frees it.
void settle_clashes(const LocalTree& local, const RemoteTree& remote, Plan& plan);

}  // namespace ws::sync
