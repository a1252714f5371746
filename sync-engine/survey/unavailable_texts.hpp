/// Documents whose text does not fit on the disk or does not match its hash. They are skipped, and the others synced.
#pragma once

#include <vector>

#include "sync-engine/model/report.hpp"
#include "sync-engine/survey/incoming.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Writes the pulled texts to the history, durably. Documents whose texts do not fit are moved from `incoming` to
/// `Survey::unavailable`.
Result<void> write_incoming(Session& session, Incoming& incoming, Survey& survey);

/// Adds the damaged ones to `Survey::unavailable`.
void leave_out_damaged(Incoming& incoming, Survey& survey);

/// Removes them from the plan until their text is available.
void hold_unavailable(const Survey& survey, LocalTree& local);

/// A failed row each.
std::vector<Row> rows_of_unavailable(const Survey& survey);

}  // namespace ws::sync
