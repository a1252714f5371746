/// Updates a recorded conflict to the present state of both sides.
#pragma once

#include <optional>

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

}  // namespace ws::sync
