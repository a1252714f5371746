/// Finds unsynced files that occupy the path of an incoming document.
#pragma once

#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Checks the path of each file that the plan would pull or move, and the folders above it, and adds to
/// `LocalTree::obstacles` whatever is there and unknown to the scan. True: something was added, and the plan must be
/// made again. Empty folders are not obstacles: the writer removes them. A file created since the walk is not one
/// either: the write detects it. What cannot be read is left to the write as well, which reports why.
bool find_obstacles(const Session& session, Survey& survey);

}  // namespace ws::sync
