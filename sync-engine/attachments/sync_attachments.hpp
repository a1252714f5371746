/// Carries out the plan of the attachments: bytes first, then the files here, then the list on the service.
///
/// Nothing moves the base of a file before its bytes are where they belong and, of what is sent, the list says so. A
/// run that is killed anywhere leaves what the next plan meets as done on both sides, or plans again.
#pragma once

#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/model/report.hpp"

namespace ws::sync {

/// Adds a row for each action, and what is skipped, to the report. What ends it early is in the report. Fails with
/// `disk`.
Result<void> sync_attachments(Session& session, const Clock& clock, AttachmentSurvey found, Half half, Report& report);

}  // namespace ws::sync
