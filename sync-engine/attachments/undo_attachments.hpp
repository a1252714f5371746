/// How an undo takes attachments back: the files here become what they were, and the run that follows sends that.
#pragma once

#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/undo/undo.hpp"

namespace ws::sync {

/// Whether the row is about the bytes of a file that is no document. A rename alone is not: its bytes stay.
bool is_about_bytes(const Session& session, const OperationRow& row);
bool is_about_bytes(const Session& session, const UndoStep& step);

/// Adds the steps of those rows to the plan. A file that changed since is left alone.
void plan_attachment_undo(Session& session,
                          const std::vector<OperationRow>& rows,
                          const UndoOptions& options,
                          UndoPlan& plan);

/// Does the steps, or what is left of them after an interruption. Bytes come from this tree, else from the service.
/// Answers what was left. Fails with what ends everything; then the steps are still journalled.
Result<std::vector<LeftAlone>> undo_attachments(Session& session, const std::vector<UndoStep>& steps);

}  // namespace ws::sync
