/// Matches the entries of a commit's answer to its items.
///
/// An answer names a path, and two items may have the same one: one that leaves it and one that takes it. An item is
/// matched by document, then by kind, and by path alone where the answer has neither. After a complete but unusable
/// answer the outcome is found by a pull: what equals our items counts as applied (`cli.md`, class S).
#pragma once

#include <cstddef>
#include <vector>

#include "sync-engine/remote/remote.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// The answer to one item; both null: none.
struct Answered {
  const AppliedItem* applied = nullptr;
  const RecordedConflict* conflict = nullptr;
};

/// One for each of `items`, in their order; lent by `answer`. A conflict at a place with two documents is asked for its
/// own: fails as `Remote::find_conflict` does.
Result<std::vector<Answered>> match_answer(Remote& remote,
                                           const std::vector<StagedItem>& items,
                                           const CommitAnswer& answer);

/// An item that a push did not take, and why.
struct Refusal {
  std::size_t place = 0;  ///< among the items
  const Rejected* why = nullptr;
};

/// One for each of `rejected` that is about one of `items`, each item once.
std::vector<Refusal> find_refused(const std::vector<StagedItem>& items, const std::vector<Rejected>& rejected);

/// Whether the failure is such an answer. Not one that was cut or lost: then the commit is sent again and answered as
/// before.
bool is_unusable_answer(const Failure& failure);

/// The applied items, as the answer should have had them. Without documents that were changed again since, and without
/// conflicts: the next plan finds both. Fails as `Remote::pull` does.
Result<CommitAnswer> find_applied_items(Session& session, const std::vector<StagedItem>& items);

}  // namespace ws::sync
