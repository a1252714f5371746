/// How every conflict ends in what this tree remembers, whoever decided it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// What was decided, as far as the state is concerned.
struct ConflictEnd {
  std::map<DocumentId, std::optional<BaseRow>> base = {};        ///< empty: forgotten
  std::map<DocumentId, std::optional<PendingRow>> pending = {};  ///< empty: nothing is pending any more
  std::optional<std::uint64_t> source_revision = {};
  bool drops_staged = false;  ///< what was staged was planned from a state that holds no longer
};

/// All of it at once, with the record of the conflict; the history is on the disk by then, and keeps the texts whose
/// files under `.ws/conflicts/` go last. Fails with `disk`; then the conflict is open as before.
Result<void> end_conflict(Session& session, const Conflict& conflict, const ConflictEnd& end = {});

}  // namespace ws::sync
