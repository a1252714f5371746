/// Tries the merges that a plan proposes.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Fills in `survey.merged` and the result of each merge of the plan. Returns the documents whose changes overlap, or
/// of which a text is missing: the plan must be made again without them. `texts`: the remote texts that the pull
/// brought. Fails where a text cannot be read from the service.
Result<std::set<DocumentId>> try_merges(Session& session,
                                        Survey& survey,
                                        const std::map<DocumentId, std::string>& texts,
                                        bool offline);

}  // namespace ws::sync
