/// What a run would come to after its first round, for a report of what is only planned.
#pragma once

#include "sync-engine/model/options.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// The rows as `on_conflict` would decide the conflicts, and those of the round that follows where a name is decided,
/// or becomes free for a file that had to wait for it. `seen`: what the report was made of; it is used up. Asks the
/// service nothing. Fails with `disk`.
Result<void> preview_later_rounds(Session& session, Survey seen, const RunOptions& options, Report& report);

}  // namespace ws::sync
