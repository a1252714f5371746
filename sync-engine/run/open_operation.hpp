/// Opens, resumes and closes the operation that records the changes of a call. See state/operations.hpp.
#pragma once

#include <optional>
#include <string_view>

#include "sync-engine/model/report.hpp"
#include "sync-engine/run/run_context.hpp"
#include "sync-engine/state/operations.hpp"

namespace ws::sync {

/// A new operation of this kind, with the command line and the source's revision.
Result<Operation> new_operation(RunContext& context, std::string_view kind);
/// From now on changes are recorded in `known`, or in a new operation.
Result<void> resume_operation(RunContext& context, const std::optional<Operation>& known, std::string_view kind);
Result<void> close_operation(RunContext& context);
/// An operation that ended early stays open: the same command resumes it.
Result<void> end_operation(RunContext& context, Report& report);

}  // namespace ws::sync
