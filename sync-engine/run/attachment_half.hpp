/// After the notes of a run: the files that they show.
#pragma once

#include "sync-engine/attachments/sync_attachments.hpp"
#include "sync-engine/model/options.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/run/run_context.hpp"

namespace ws::sync {

/// Where notes came or went both sides are surveyed again. With `on_conflict` what it meets is decided at once.
Result<void> sync_files(RunContext& context, const RunOptions& options, AttachmentHalves halves, Report& report);

}  // namespace ws::sync
