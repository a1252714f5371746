/// What a plan needs looked at before it holds: files in the way of incoming documents, and the merges that it
/// proposes. Where either finds something, the plan is made again.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Fills in `survey.merged` and the result of each merge of the plan. Returns the documents whose changes overlap, or
/// of which a text is missing: the plan must be made again without them. `texts`: the remote texts that the pull
/// brought. Fails where a text cannot be read from the service.
Result<std::set<DocumentId>> try_merges(Session& session,
                                        Survey& survey,
                                        const std::map<DocumentId, std::string>& texts,
                                        bool offline);

/// Checks the path of each file that the plan would pull or move, and the folders above it, and adds to
/// `LocalTree::obstacles` whatever is there and unknown to the scan. True: something was added, and the plan must be
/// made again. Empty folders are not obstacles: the writer removes them. A file created since the walk is not one
/// either: the write detects it. What cannot be read is left to the write as well, which reports why.
bool find_obstacles(const Session& session, Survey& survey);

}  // namespace ws::sync
