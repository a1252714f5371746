#include "sync-engine/run/begin.hpp"

#include <optional>
#include <set>

#include "sync-engine/apply/journal.hpp"
#include "sync-engine/publish/publish.hpp"
#include "sync-engine/run/open_operation.hpp"
#include "sync-engine/run/run_undo.hpp"

namespace ws::sync {

Result<TreeLock> begin(RunContext& context, std::string_view kind) {
  using OperationStage = Operation::Stage;
  WS_LET(TreeLock lock, TreeLock::take(context.session.root, context.session.options.wait_lock));
  Operations operations = context.session.state.operations();
  WS_LET(const auto open, operations.find_at(OperationStage::open, OperationStage::open));
  WS_LET(auto undoing, operations.find_at(OperationStage::undoing_on_disk, OperationStage::undoing_on_service));
  WS_TRY(resume_operation(context, open ? open : undoing, kind));
  WS_TRY(recover_steps(context.session));
  WS_LET(const std::optional<StagedCommit> staged, context.session.state.staged());
  if (staged && staged->under_way && context.session.remote != nullptr) {
    std::set<RelativePath> not_here;
    if (undoing) {
      WS_LET(not_here, finish_steps_here(context.session, *undoing));
    }
    WS_TRY(commit_staged(context.session, {}, context.finished, {}, [&not_here] { return not_here; }));
  }
  if (undoing) {
    WS_TRY(operations.resume(*undoing));
    WS_TRY(finish_interrupted_undo(context, *undoing));
  }
  const bool is_rerun = open && open->kind == kind;
  if (open && !is_rerun) {
    WS_TRY(operations.resume(*open));
    WS_TRY(close_operation(context));
  }
  if (undoing || (open && !is_rerun)) WS_TRY(resume_operation(context, is_rerun ? open : std::nullopt, kind));
  return lock;
}

}  // namespace ws::sync
