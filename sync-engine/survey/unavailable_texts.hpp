/// Texts that the disk has no room for while others fit, and those that are not what their hash says: one document does
/// not keep the rest away.
#pragma once

#include <vector>

#include "sync-engine/model/report.hpp"
#include "sync-engine/survey/incoming.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Makes what was pulled durable in the history. Documents whose texts do not fit leave `incoming` and are noted in the
/// survey.
Result<void> write_incoming(Session& session, Incoming& incoming, Survey& survey);

/// Notes those whose text cannot be read in the survey.
void leave_out_damaged(Incoming& incoming, Survey& survey);

/// Takes them out of the plan: neither side's change is looked at before the text is here.
void hold_unavailable(const Survey& survey, LocalTree& local);

/// A failed row each.
std::vector<Row> rows_of_unavailable(const Survey& survey);

}  // namespace ws::sync
