/// Sending a document's new text where a person can be asked about what collides.
#pragma once

#include "cli/commands/docs/merged_update.hpp"

namespace ws::cli {

/// `update_merged`; and where that ends in a collision and somebody is there, leads them through it until it is stored,
/// let go (`keeps_theirs`) or left open: then `collision` and `theirs` are the last ones that were shown. From the
/// first question on nothing is merged unseen: whatever else is stored meanwhile is shown too. Fails as `update_once`
/// does, with `cancelled` where a signal came.
Result<UpdateEnd> update_walked(Session& session, Client& client, const TextChange& change);

}  // namespace ws::cli
