#include "sync-engine/run/open_operation.hpp"

#include <string>
#include <utility>

namespace ws::sync {

Result<Operation> new_operation(RunContext& context, std::string_view kind) {
  WS_LET(const SourceRevision revision, context.session.state.source_revision());
  const std::string& command = context.session.options.command;
  return Operation{.time = context.clock->now(),
                   .kind = std::string(kind),
                   .command = command.empty() ? "ws sync " + std::string(kind) : command,
                   .revision_before = revision};
}

Result<void> resume_operation(RunContext& context, const std::optional<Operation>& known, std::string_view kind) {
  if (known) return context.session.state.operations().resume(*known);
  WS_LET(Operation operation, new_operation(context, kind));
  context.session.state.operations().begin(std::move(operation));
  return {};
}

Result<void> close_operation(RunContext& context) {
  WS_LET(const SourceRevision revision, context.session.state.source_revision());
  return context.session.state.operations().close(revision);
}

Result<void> end_operation(RunContext& context, Report& report) {
  report.operation = context.session.state.operations().current();
  return report.ended_by || report.guard ? Result<void>() : close_operation(context);
}

}  // namespace ws::sync
