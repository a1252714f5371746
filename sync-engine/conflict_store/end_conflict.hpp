/// How every conflict ends in what this tree remembers, whoever decided it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// What was decided, as far as the state is concerned.
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

/// All of it at once, with the records of the conflicts; the history is on the disk by then, and keeps the texts whose
/// files under `.ws/conflicts/` go last. Fails with `disk`; then all of them are open as before.
Result<void> end_conflicts(Session& session, const std::vector<EndedConflict>& ended);
Result<void> end_conflict(Session& session, const Conflict& conflict, const ConflictEnd& end = {});

}  // namespace ws::sync
