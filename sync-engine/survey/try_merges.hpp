/// The merges that a plan proposes, tried on the texts.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Fills in `survey.merged` and what each merge of the plan leads to. Those whose lines collide, or of which a text is
/// not to be had, are returned: the plan has to be made again without them. `texts`: of the service, as far as the pull
/// brought them just now. Fails where the service cannot be asked for a text.
Result<std::set<DocumentId>> try_merges(Session& session,
                                        Survey& survey,
                                        const std::map<DocumentId, std::string>& texts,
                                        bool offline);

}  // namespace ws::sync
