/// Conflicts that no commit can record: the service has no two texts to compare, so this tree keeps them alone.
#pragma once

#include <string>
#include <vector>

#include "sync-engine/model/report.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Keeps those of the plan that are for nobody else, or that this key could not send, with their texts under
/// `.ws/conflicts/ID/`; their rows are done. One that is kept already is not written again. Fails with `disk`.
Result<void> keep_local_conflicts(Session& session, const Survey& survey, std::vector<Row>& rows);

}  // namespace ws::sync
