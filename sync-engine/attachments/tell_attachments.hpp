/// What people are told of a survey of attachments: its rows in a report, and its conflicts as those of documents.
#pragma once

#include "sync-engine/attachments/survey_attachments.hpp"

namespace ws::sync {

/// A run has named the foreign files that were new.
Result<void> note_told(Session& session, const AttachmentSurvey& found);

/// Puts its rows, conflicts and skipped files into a report.
void add_to_report(const AttachmentSurvey& found, Report& report);

/// How such a conflict is shown among those of documents.
Conflict conflict_of(const RelativePath& path, const OpenAttachment& open);
OpenAttachment open_from(const AttachmentCollision& collision);

}  // namespace ws::sync
