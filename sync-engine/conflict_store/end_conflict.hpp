/// Ends conflicts in the state, whoever decided them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// The changes of the state that a decision makes.
struct ConflictEnd {
  std::map<DocumentId, std::optional<BaseRow>> base = {};        ///< empty: forgotten
  std::map<DocumentId, std::optional<PendingRow>> pending = {};  ///< empty: nothing is pending any more
  std::optional<SourceRevision> source_revision = {};
  std::optional<OperationRow> recorded = {};  ///< what the decision changed, for who takes it back
  bool drops_staged = false;                  ///< what was staged was planned from a state that holds no longer
};

struct EndedConflict {
  std::string id = {};
  ConflictEnd end = {};
};

/// One transaction with the conflict records. Invariant: the history is on disk before it, and the files under
/// `.ws/conflicts/` are removed after it. Fails with `disk`; then all conflicts are still open.
Result<void> end_conflicts(Session& session, const std::vector<EndedConflict>& ended);
Result<void> end_conflict(Session& session, const Conflict& conflict, const ConflictEnd& end = {});

}  // namespace ws::sync
