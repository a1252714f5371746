/// The attachments of a run, after its documents.
#pragma once

#include "sync-engine/attachments/sync_attachments.hpp"
#include "sync-engine/model/options.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/run/run_context.hpp"

namespace ws::sync {

/// Surveys both sides again where documents changed. With `on_conflict`, conflicts are decided at once.
Result<void> sync_files(RunContext& context, const RunOptions& options, AttachmentHalves halves, Report& report);

}  // namespace ws::sync
