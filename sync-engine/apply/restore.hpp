/// Brings back a text that the history holds.
#pragma once

#include <optional>
#include <string>

#include "sync-engine/model/relative_path.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/state/history_log.hpp"

namespace ws::sync {

/// `at`: the id of a state (a prefix will do); empty: the newest state in which the file had another text than now.
/// What is on disk goes to the history first, so that a second restore undoes the first. The change is a local edit:
/// the next run sends it. Fails with `not_found` where the history has no such text.
Result<Restored> restore(Session& session,
                         const RelativePath& path,
                         const std::optional<std::string>& at,
                         bool dry_run);

}  // namespace ws::sync
