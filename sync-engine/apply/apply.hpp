/// The half of a plan that changes this side.
#pragma once

#include <vector>

#include "sync-engine/model/report.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Does every pull, merge, adopt and settled row; each row that could not be done says why in its state. Fails only
/// with what ends everything; what was done until then is durable and noted in `rows`.
Result<void> apply_here(Session& session, const Survey& survey, std::vector<Row>& rows);

}  // namespace ws::sync
