/// A recorded conflict beside what the two sides have by now.
#pragma once

#include <optional>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// The conflict as it is now; where the service changed its document again it is recorded anew, texts too, so that a
/// decision is made about what is there. No file of the user's changes, and nothing is sent but questions. Empty: it is
/// open no more. Fails as the service does.
Result<std::optional<Conflict>> refresh_conflict(Session& session, const Conflict& conflict);

/// What to say where the service refused a decision, or there was nothing to decide about yet: `refusal` as it came,
/// or, where its document is not what was recorded, that it is recorded now as it is.
Failure refresh_after_refusal(Session& session, const Conflict& conflict, Failure refusal);

/// What to say where a text is not the recorded one any more.
Failure changed_again(const Conflict& conflict);

}  // namespace ws::sync
