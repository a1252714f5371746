/// Idempotency keys that the user asks for.
#pragma once

#include "api-client/client/client.hpp"
#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// The key that the call goes under: `--idempotency-key K`, or with `stable` that of the create that an earlier run
/// left open, else one derived from server, person or agent, operation and body: the service is asked once whose the
/// key is, because `WS_TOKEN` may have been rotated between a run and its repeat. Where it names nobody, the key itself
/// stands for them. Nothing to do without the flag, or where the operation takes no key. Fails with `unknown_outcome`
/// where the earlier run is so old that nobody can complete it, as `account_of` (the service cannot be asked: by the
/// key alone a second object might be made), with `disk`.
Result<void> settle_idempotency_key(Session& session, const contract::Operation& operation, Call& call);

}  // namespace ws::cli
