/// Which files and known documents a run does not see, though they may be there: a rule, a name, `leave_out:`. That
/// such a file is missing proves nothing (`sync.md`, "Ignored now, tracked before"), so it is remembered until it is
/// seen.
#pragma once

#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// No file is taken for a document that is not to be here.
BaseTree without_left_out(const Session& session, const BaseTree& base);

/// Moves such files and documents of `Survey::local` to its `unsyncable` and `skipped`.
void hide_out_of_sight(Session& session, Survey& survey);

/// A document that the service moved out of a folder that is left out arrives.
void show_moved_out(const Session& session, Survey& survey);

/// Where `PullMode::store`: marks documents that go out of sight, for `store_survey` too, and ends the marks of those
/// that are seen again. `keep_archived`: what the service archived counts as out of sight.
void note_out_of_sight(Survey& survey, PullMode mode, bool keep_archived);

/// What is left out on purpose is named only where a file lies here all the same.
void hush_left_out(Survey& survey);

}  // namespace ws::sync
