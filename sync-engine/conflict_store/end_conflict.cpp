#include "sync-engine/conflict_store/end_conflict.hpp"

#include "sync-engine/conflict_store/conflict_texts.hpp"

namespace ws::sync {
namespace {

Result<void> store(StateStore& state, const EndedConflict& ended) {
  for (const auto& [document, row] : ended.end.base) {
    WS_TRY(row ? state.put_base(document, *row) : state.forget_base(document));
  }
  if (ended.end.recorded) WS_TRY(state.operations().record(*ended.end.recorded));
  for (const auto& [document, row] : ended.end.pending) {
    WS_TRY(row ? state.put_pending(document, *row) : state.drop_pending(document));
  }
  if (ended.end.source_revision) WS_TRY(state.set_source_revision(*ended.end.source_revision));
  if (ended.end.drops_staged) WS_TRY(state.clear_staged());
  return state.drop_conflict(ended.id);
}

}  // namespace

Result<void> end_conflicts(Session& session, const std::vector<EndedConflict>& ended) {
  if (ended.empty()) return {};
  WS_TRY(session.history.flush());
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const EndedConflict& each : ended) WS_TRY(store(session.state, each));
  WS_TRY(transaction.commit());
  for (const EndedConflict& each : ended) remove_conflict_files(session.root, each.id);
  return {};
}

Result<void> end_conflict(Session& session, const Conflict& conflict, const ConflictEnd& end) {
  return end_conflicts(session, {{.id = conflict.id, .end = end}});
}

}  // namespace ws::sync
