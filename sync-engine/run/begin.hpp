/// The state of one engine, what every command that writes does first, and the operation that records its changes:
/// opened, resumed, closed. See state/operations.hpp.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "api-client/base/clock.hpp"
#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/binding/ws_folder.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/state/operations.hpp"
#include "sync-engine/undo/undo.hpp"

namespace ws::sync {

struct RunContext {
  Session session;
  const Clock* clock;
  bool is_cache_old = false;                     ///< since conflicts were decided: refreshed once, at the end
  AttachmentSurvey attachments = {};             ///< as the last survey of both sides found them
  std::vector<Row> finished = {};                ///< of a commit that an earlier command did not see the end of
  std::optional<UndoReport> finished_undo = {};  ///< the same of an undo
};

inline constexpr std::string_view reset_operation = "reset";

/// Takes the lock and finishes the work of an interrupted command, which is recorded in that command's operation.
/// `kind` is the operation of this call: a reset publishes nothing of an interrupted run, and takes over what the
/// service has of it. Fails with `busy` while another process holds the lock.
Result<TreeLock> begin(RunContext& context, std::string_view kind);

/// Whether an earlier command was cut off so that the next one finishes its work first, and none is running now.
Result<bool> was_cut_off(Session& session);

/// A new operation of this kind, with the command line and the source's revision.
Result<Operation> new_operation(RunContext& context, std::string_view kind);
/// From now on changes are recorded in `known`, or in a new operation.
Result<void> resume_operation(RunContext& context, const std::optional<Operation>& known, std::string_view kind);
Result<void> close_operation(RunContext& context);
/// An operation that ended early stays open: the same command resumes it.
Result<void> end_operation(RunContext& context, Report& report);

}  // namespace ws::sync
