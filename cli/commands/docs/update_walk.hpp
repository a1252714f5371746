/// Updates a document, and resolves conflicts with the user.
#pragma once

#include "cli/commands/docs/merged_update.hpp"

namespace ws::cli {

/// `update_merged`; where that ends in a conflict and a user is present, resolves it interactively until the text is
/// stored, dropped (`keeps_theirs`) or left open: then `collision` and `theirs` are those shown last. After the first
/// question, revisions that others store meanwhile are shown before they are merged. Fails as `update_once` does, with
/// `cancelled` on a signal.
Result<UpdateEnd> update_walked(Session& session, Client& client, const TextChange& change);

}  // namespace ws::cli
