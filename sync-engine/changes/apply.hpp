/// Carries out the local half of a plan.
#pragma once

#include <vector>

#include "sync-engine/model/report.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Carries out every pull, merge, adopt and settled row; a row that fails has the failure in its state. Fails only with
/// what ends the call; everything done until then is durable and recorded in `rows`.
Result<void> apply_here(Session& session, const Survey& survey, std::vector<Row>& rows);

}  // namespace ws::sync
