/// Reads off the notes of a tree which files they show.
#pragma once

#include "sync-engine/attachments/shown_files.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Of the notes as they are on disk. No note is read where there is no file that one could show.
Result<ShownFiles> shown_in_notes(Session& session, const Survey& survey, const OtherFiles& files, bool may_write);

}  // namespace ws::sync
