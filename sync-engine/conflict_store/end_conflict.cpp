#include "sync-engine/conflict_store/end_conflict.hpp"

#include "sync-engine/conflict_store/conflict_texts.hpp"

namespace ws::sync {

Result<void> end_conflict(Session& session, const Conflict& conflict, const ConflictEnd& end) {
  StateStore& state = session.state;
  WS_TRY(session.history.flush());
  WS_LET(sqlite::Transaction transaction, state.begin());
  for (const auto& [document, row] : end.base) {
    WS_TRY(row ? state.put_base(document, *row) : state.forget_base(document));
  }
  for (const auto& [document, row] : end.pending) {
    WS_TRY(row ? state.put_pending(document, *row) : state.drop_pending(document));
  }
  if (end.source_revision) WS_TRY(state.set_source_revision(*end.source_revision));
  if (end.drops_staged) WS_TRY(state.clear_staged());
  WS_TRY(state.drop_conflict(conflict.id));
  WS_TRY(transaction.commit());
  remove_conflict_files(session.root, conflict.id);
  return {};
}

}  // namespace ws::sync
