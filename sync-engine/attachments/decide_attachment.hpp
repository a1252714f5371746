/// A file that both sides changed, or that has two names: what a person decided, carried out here.
#pragma once

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/model/conflict.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// Decides an open conflict here; the next run tells the service. Fails with `conflict` where the file is no longer as
/// the conflict has it, or as the service does where bytes have to be fetched.
Result<void> decide_attachment(Session& session, const Clock& clock, const RelativePath& path, Keep keep);

}  // namespace ws::sync
