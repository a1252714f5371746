/// Takes over conflicts of this tree that were resolved on the service by another client.
///
/// Only people decide conflicts. One that the service lists no more is asked for by its id, and only `resolved` moves
/// the base; one that the service lost is found and recorded again.
#pragma once

#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// The text that was pushed with each such conflict becomes the base of its document: an unchanged file is then
/// replaced by the result (its text is in the history), a changed one merged with it. `keep`: the state says so too.
/// One request, and only where a conflict is open here. To be called after the pull, before the plan.
Result<void> take_over_resolutions(Session& session, Survey& survey, PullMode mode);

}  // namespace ws::sync
