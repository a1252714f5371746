/// Idempotency keys of creates, and the journal that lets a later run repeat one safely.
#pragma once

#include "api-client/client/client.hpp"
#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// The key that the call goes under: `--idempotency-key K`, or with `stable` that of the create that an earlier run
/// left open, else one derived from server, owner, operation and body. Nothing to do where the operation takes no key.
/// Fails with `unknown_outcome` where the earlier run is so old that nobody can complete it, with `disk`.
Result<void> settle_idempotency_key(Session& session, const contract::Operation& operation, Call& call);

/// Sends the call. One that takes a key is in the idempotency journal before it leaves, and settled there when its
/// outcome is known. Without a journal (a home that cannot be written) only `stable` is refused.
Result<Reply> send_call(Session& session, Client& client, const contract::Operation& operation, Call call);

}  // namespace ws::cli
