/// Decides conflicts about where a document stands: both renamed, two documents at one place, a file and a folder.
#pragma once

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// For what `is_about_place`. Nothing is sent but the service's own record of the conflict, which is closed. Files here
/// change their names or go (their texts to the history first) and the base says what is wanted; the next run carries
/// it out.
///
/// `local`: the name that the file has here is kept, the service's document gives way. `remote`: the reverse. `both`:
/// as `remote` where there are two texts, for then both stay. Fails with `usage` (`merged`, or `both` of one document)
/// or `conflict` (something else stands in the way; the conflict stays open).
Result<void> decide_place(Session& session, const Conflict& conflict, Keep keep);

}  // namespace ws::sync
