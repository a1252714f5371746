/// Finds the outcome of a commit after a complete but unusable answer: pulls what changed since, and what equals our
/// items counts as applied (`cli.md`, class S).
#pragma once

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// Whether the failure is such an answer. Not one that was cut or lost: then the commit is sent again and answered as
/// before.
bool is_unusable_answer(const Failure& failure);

/// The applied items, as the answer should have had them. Without documents that were changed again since, and without
/// conflicts: the next plan finds both. Fails as `Remote::pull` does.
Result<CommitAnswer> find_applied_items(Session& session, const std::vector<StagedItem>& items);

}  // namespace ws::sync
