/// A recorded conflict before it is decided: brought up to the present state of both sides, or merged in an editor.
#pragma once

#include <optional>
#include <string>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// The conflict as it is now. Where its document changed on the service again, the record and its texts are updated, so
/// that the decision is about the present text. Changes no file of the user and only reads from the service. Empty: no
/// longer open. Fails as the service does.
Result<std::optional<Conflict>> refresh_conflict(Session& session, const Conflict& conflict);

/// The failure to report after the service refused a decision: `refusal`, or, where the document had changed, one that
/// says that the conflict was updated.
Failure refresh_after_refusal(Session& session, const Conflict& conflict, Failure refusal);

/// The failure where a remote text is no longer the recorded one.
Failure changed_again(const Conflict& conflict);

/// Writes the merge of both texts into the working file, with diff3 markers where they overlap. The previous text goes
/// to the history; the conflict stays open. Fails with `usage` where there are no two texts, or where the file has
/// markers already.
Result<void> write_markers(Session& session, const Conflict& conflict);

/// The merged text where none was given: the working file, if it was changed since the conflict was recorded; else the
/// clean merge of the three texts. Fails with `usage` where markers are left, or the texts collide.
Result<std::string> merged_text(Session& session, const Conflict& conflict);

}  // namespace ws::sync
