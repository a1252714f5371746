/// The merges that a plan proposes, tried on the texts.
#pragma once

#include <map>
#include <string>

#include "sync-engine/steps/survey.hpp"

namespace ws::sync {

/// Fills in `survey.merged` and what each merge leads to; those whose lines collide, or of which a text is not to be
/// had, become conflicts of the plan. `texts`: of the service, as far as the pull brought them just now. Fails where
/// the service cannot be asked for a text.
Result<void> try_merges(Session& session, Survey& survey, const std::map<DocumentId, std::string>& texts, bool offline);

}  // namespace ws::sync
