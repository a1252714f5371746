/// Whose folder a tree is: every command there uses a key of that person or agent, whichever key is in use elsewhere.
#pragma once

#include <filesystem>

#include "cli/commands/shared/session.hpp"
#include "cli/commands/sync/tree.hpp"
#include "sync-engine/binding/tree_binding.hpp"

namespace ws::cli {

/// Makes the session use a key of the tree's account: the one that is in use where it is theirs, else the one that tied
/// the tree, else the one with the most scopes. A tree without an account becomes that of the key in use, unless it is
/// only looked at. Fails with `usage` (code `foreign_account`) where the key that was asked for is somebody else's,
/// with `auth` where none of the account is stored. Nothing of the tree was sent then.
Result<sync::Account> use_account_of(Session& session,
                                     const std::filesystem::path& root,
                                     const sync::TreeBinding& binding,
                                     Network network);

}  // namespace ws::cli
