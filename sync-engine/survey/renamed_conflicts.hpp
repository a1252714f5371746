/// Open conflicts whose file was renamed here since they were recorded. A conflict is about a document, and its path is
/// where the document's file lies: so every look and every decision goes by the name that the file has now.
#pragma once

#include <vector>

#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Gives the survey's known conflicts the paths of its files; those that changed are for `store_survey`.
void follow_renames(Survey& survey);

/// The open conflicts of notes as the state has them, each at the path that its file has now. Looks at every file
/// where one may not be at its place any more; asks nobody and writes nothing. Fails as `survey` does.
Result<std::vector<Conflict>> find_open_conflicts(Session& session);

/// The same, stored: before a conflict is decided, or its file written.
Result<void> store_renamed_conflicts(Session& session);

}  // namespace ws::sync
