/// What a commit did whose answer was complete and of no use: the service is asked for what changed, and what equals
/// ours counts as done (`cli.md`, class S).
#pragma once

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// Whether it is such an answer that ended a commit. One that was cut or lost is another matter: the commit is sent
/// again, and answered as before.
bool is_of_no_use(const Failure& failure);

/// The items that arrived, as the service would have told them. A document that somebody changed since is not among
/// them, nor is a conflict: the next plan meets both. Fails as `Remote::pull` does.
Result<CommitAnswer> find_applied_items(Session& session, const std::vector<StagedItem>& items);

}  // namespace ws::sync
