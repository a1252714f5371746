#include "sync-engine/run/begin.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sync-engine/attachments/interrupted_files.hpp"
#include "sync-engine/attachments/publish_list.hpp"
#include "sync-engine/changes/edit_files.hpp"
#include "sync-engine/changes/finish_step.hpp"
#include "sync-engine/publish/publish.hpp"
#include "sync-engine/run/run_undo.hpp"

namespace ws::sync {
namespace {

std::string command_of(const Session& session, std::string_view kind) {
  const std::string& command = session.options.command;
  return command.empty() ? "ws sync " + std::string(kind) : command;
}

/// Whether a call goes on with the operation of one that was cut off. A run that was cut off is one operation,
/// whichever command ends it; of other commands the very same one goes on.
bool continues(const Session& session, std::string_view kind, const Operation& cut_off) {
  static const std::set<std::string_view> runs = {"run", "pull", "push", "commit"};
  if (runs.contains(kind) && runs.contains(cut_off.kind)) return true;
  return kind == cut_off.kind && command_of(session, kind) == cut_off.command;
}

}  // namespace

Result<TreeLock> begin(RunContext& context, std::string_view kind) {
  using OperationStage = Operation::Stage;
  WS_LET(TreeLock lock, TreeLock::take(context.session.root, context.session.options.wait_lock));
  context.session.wrote_notes = false;
  Operations operations = context.session.state.operations();
  WS_LET(auto open, operations.find_at(OperationStage::open, OperationStage::open));
  WS_LET(auto undoing, operations.find_at(OperationStage::undoing_on_disk, OperationStage::undoing_on_service));
  WS_TRY(resume_operation(context, open ? open : undoing, kind));
  WS_TRY(recover_steps(context.session));
  if (undoing && undoing->undoes == 0) {  // the steps of another kind than an undo: a rename with its links
    WS_TRY(finish_steps(context.session, undoing->id));
    open = std::exchange(undoing, std::nullopt);
  }
  WS_TRY(settle_interrupted_files(context.session, *context.clock, context.finished));
  WS_LET(const std::optional<StagedCommit> staged, context.session.state.staged());
  if (staged && staged->under_way && context.session.remote != nullptr) {
    std::set<RelativePath> not_here;
    if (undoing) {
      WS_LET(not_here, finish_steps_here(context.session, *undoing));
    }
    WS_LET(const bool stays_out, undoing ? Result<bool>(false) : is_withdrawn(context.session, *staged));
    WS_TRY((kind == reset_operation && !undoing) || stays_out
               ? take_over_sent(context.session, context.finished)
               : commit_staged(context.session, {}, context.finished, {}, [&not_here] { return not_here; }));
  }
  if (undoing) {
    WS_TRY(operations.resume(*undoing));
    WS_TRY(finish_interrupted_undo(context, *undoing));
  }
  const bool is_rerun = open && continues(context.session, kind, *open);
  if (open && !is_rerun) {
    WS_TRY(operations.resume(*open));
    WS_TRY(close_operation(context));
  }
  if (undoing || (open && !is_rerun)) WS_TRY(resume_operation(context, is_rerun ? open : std::nullopt, kind));
  return lock;
}

Result<bool> was_cut_off(Session& session) {
  Operations operations = session.state.operations();
  WS_LET(const auto undoing,
         operations.find_at(Operation::Stage::undoing_on_disk, Operation::Stage::undoing_on_service));
  WS_LET(const std::optional<StagedCommit> staged, session.state.staged());
  WS_LET(const std::vector<JournalStep> steps, session.state.steps());
  bool any = undoing || (staged && staged->under_way) || !steps.empty();
  if (!any && session.knows_attachments()) {
    AttachmentStore store = session.attachments();
    WS_LET(any, has_list_commit(store));
  }
  return any && !TreeLock::is_held(session.root);
}

namespace {

/// Whether nothing was ever agreed on, or all of it was taken back. A folder that was emptied by a run is another one.
Result<bool> is_before_the_first(StateStore& state) {
  WS_LET(const bool is_empty, state.is_base_empty());
  if (!is_empty) return false;
  Operations operations = state.operations();
  WS_LET(const std::vector<Operation> all, operations.list());
  for (const Operation& each : all) {
    if (each.undoes != 0 || each.is_spent || is_undone(all, each.id)) continue;
    WS_LET(const std::vector<OperationRow> rows, operations.rows(each.id));
    const bool was_synced = std::ranges::any_of(rows, [](const OperationRow& row) {
      return row.origins.has(ChangeOrigin::sent) || row.origins.has(ChangeOrigin::received);
    });
    if (was_synced) return false;
  }
  return true;
}

}  // namespace

Result<Operation> new_operation(RunContext& context, std::string_view kind) {
  WS_LET(const SourceRevision revision, context.session.state.source_revision());
  WS_LET(const bool is_first, is_before_the_first(context.session.state));
  return Operation{.time = context.clock->now(),
                   .kind = std::string(kind),
                   .command = command_of(context.session, kind),
                   .device = context.session.options.device,
                   .is_first = is_first,
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
