/// What is too much of a plan for files: counted, and taken out of the plan where the rest may be done. The limits are
/// in `reconcile/guard.hpp`.
#pragma once

#include "sync-engine/attachments/survey_attachments.hpp"

namespace ws::sync {

/// Weighs what would be deleted, with the deletes of notes: these are in the survey's guard already, or pass it by
/// themselves. Sets `found.guard`; with `hold_deletes` the deletes of files leave the plan.
void weigh_losses(Session& session, const Survey& survey, const RunOptions& options, AttachmentSurvey& found);

/// Weighs what would be received, before any of it is taken. Sets `found.growth` where it leaves the plan.
void weigh_growth(const Session& session, AttachmentSurvey& found);

}  // namespace ws::sync
