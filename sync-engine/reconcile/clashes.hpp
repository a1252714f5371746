/// Path clashes: two documents for one path on disk. Invariant: no file is ever written over another.
#pragma once

#include "sync-engine/model/plan.hpp"

namespace ws::sync {

/// For each incoming file (`pull_create`, `pull_move`), by what is at its path:
/// - a file that stays, or something that is not synced: the incoming file is written beside it as `STEM (remote).md`,
///   and a conflict `path` is reported; `revision` where a local folder replaced the document's own file and the
///   document was edited on the service
/// - a file that stays above its path, or a folder with files of other kinds: the incoming file is not written, and a
///   conflict `path` is reported
/// - a name that differs only in case or Unicode form, or one under which the service has a document and a folder,
///   though a disk cannot have both: it is skipped as a `twin`; only who made it can rename it
/// A path that its document leaves is free. A file that was edited while its path became a folder on the service is
/// renamed to `STEM (local).md`.
void settle_clashes(const BaseTree& base, const LocalTree& local, const RemoteTree& remote, Plan& plan);

}  // namespace ws::sync
