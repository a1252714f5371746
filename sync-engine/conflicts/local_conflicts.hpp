/// Conflicts that a commit cannot record on the service: they are kept in this tree alone.
#pragma once

#include <string>
#include <vector>

#include "sync-engine/model/report.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Stores those of the plan that are kept here alone, or that this key could not push, with their texts under
/// `.ws/conflicts/ID/`; their rows are done. One that is stored already is not written again. Fails with `disk`.
Result<void> keep_local_conflicts(Session& session, const Survey& survey, std::vector<Row>& rows);

}  // namespace ws::sync
