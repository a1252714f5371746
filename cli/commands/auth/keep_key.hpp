/// What a login ends with: the key is stored, the one that it replaces is revoked, and the person is told.
#pragma once

#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// Asks before a profile's key for this server is replaced; true where there is none, or where nobody can be asked.
/// Fails with `cancelled`.
Result<bool> confirm_replacing(Session& session, const std::string& profile, const std::string& base_url);

/// Stores the key, then revokes the one of the same profile, server and Workspace, which nobody could name any more.
/// A key that cannot be revoked is a note. Fails with `disk`.
Result<void> keep_key(Session& session, const StoredCredential& credential);

/// The failure of `keep_key` for a key that this login made: where the store does not hold it, it is revoked, and the
/// failure says what became of it.
Failure revoke_unkept(Session& session, const StoredCredential& credential, Failure failure);

/// Who is logged in, where, and the next step; JSON and TSV have all that is known but the secret.
void print_login(Session& session, const StoredCredential& credential);

}  // namespace ws::cli
