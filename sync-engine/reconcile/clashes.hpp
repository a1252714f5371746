/// Two documents that want one place on disk: found, and settled so that no file is ever written over another.
#pragma once

#include "sync-engine/model/plan.hpp"

namespace ws::sync {

/// Looks at every file that would arrive (`pull_create`, `pull_move`) and the place that it wants:
/// - held by a file that stays, or by something that is not synced: the arrival lies beside it as `STEM (remote).md`,
///   and that is a conflict `path`; where the file is one that a folder took the place of here, and its document was
///   edited there, `revision`
/// - beneath a file that stays or something that is not synced, or a folder with such files: the arrival waits, and
///   that is a conflict `path`
/// - held by a name that differs only in case or form: it is skipped as a `twin`
/// A document that leaves its place frees it. A file that was edited while its place became a folder on the service
/// steps aside as `STEM (local).md`.
void settle_clashes(const BaseTree& base, const LocalTree& local, const RemoteTree& remote, Plan& plan);

}  // namespace ws::sync
