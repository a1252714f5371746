/// Compares the three trees as text: `ws sync diff`.
#pragma once

#include <functional>
#include <vector>

#include "sync-engine/model/difference.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// In order of path, here before there. `wanted` says which paths. Asks the service for texts that it changed.
Result<std::vector<Difference>> differences(Session& session, const Survey& survey, const WantedPath& wanted);

}  // namespace ws::sync
