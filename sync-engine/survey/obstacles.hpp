/// What has a name on disk that something wants which arrives, and is no file of ours.
#pragma once

#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Looks at the place of each file that the survey's plan would bring or move, and at the folders above it, and adds to
/// `LocalTree::obstacles` what is in the way there without the scan knowing of it. True: there was something new, and
/// the plan has to be made again. An empty folder gives way, as the writer knows. A file that somebody made since the
/// walk is no such thing: the write finds it, and the next walk. What cannot be looked at is left to the write too,
/// which says why.
bool find_obstacles(const Session& session, Survey& survey);

}  // namespace ws::sync
