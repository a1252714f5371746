/// Conflicts that are none any more: the two sides agree again, by an edit here or there.
#pragma once

#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Forgets those recorded conflicts that the plan does not have, after the service was told that its text stays as it
/// is. One that the service does not let go of (its document changed at this moment) waits for the next run.
Result<void> close_settled_conflicts(Session& session, const Survey& survey, const RunOptions& options);

/// The plan says nothing of its document, which cannot be seen now: the conflict stays as it is.
bool is_out_of_sight(const Survey& survey, const Conflict& known);

}  // namespace ws::sync
