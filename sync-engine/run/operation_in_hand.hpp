/// The operation that the changes of a call are recorded in: begun, gone on with, closed. See state/operations.hpp.
#pragma once

#include <optional>
#include <string_view>

#include "sync-engine/model/report.hpp"
#include "sync-engine/run/run_context.hpp"
#include "sync-engine/state/operations.hpp"

namespace ws::sync {

/// One of this kind, by the command line and the revision of now.
Result<Operation> new_operation(RunContext& context, std::string_view kind);
/// Changes from now on belong to `known`, or to a new one.
Result<void> go_on_with(RunContext& context, const std::optional<Operation>& known, std::string_view kind);
Result<void> close_operation(RunContext& context);
/// One that ended early stays open: the same command goes on with it.
Result<void> end_operation(RunContext& context, Report& report);

}  // namespace ws::sync
