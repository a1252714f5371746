#include "sync-engine/changes/collect_garbage.hpp"

#include "sync-engine/conflict_store/conflict_texts.hpp"

namespace ws::sync {

Result<GcReport> collect_garbage(Session& session, const GcOptions& options) {
  GcNeeds needs{.references = {"refs/heads/main"}};
  const auto need = [&needs](const git::ObjectId& text) {
    if (!text.empty()) needs.texts.insert(text);
  };
  WS_LET(const auto base, session.state.base());
  for (const auto& [document, row] : base) need(row.blob);
  WS_LET(const auto pending, session.state.pending());
  for (const auto& [document, row] : pending) need(row.blob);
  WS_LET(const std::vector<JournalStep> steps, session.state.steps());
  for (const JournalStep& step : steps) {
    if (step.base) need(step.base->blob);
  }
  WS_LET(const std::optional<StagedCommit> staged, session.state.staged());
  if (staged) {
    for (const StagedItem& item : staged->items) need(item.blob);
  }
  // Operations are dropped before their texts, so that none refers to a missing text.
  if (!options.dry_run) {
    WS_LET(sqlite::Transaction transaction, session.state.begin());
    WS_TRY(session.state.operations().drop_before(options.keep_from));
    WS_TRY(transaction.commit());
  }
  WS_LET(const std::vector<git::ObjectId> texts, session.state.operations().texts_since(options.keep_from));
  for (const git::ObjectId& text : texts) need(text);
  WS_LET(const std::vector<Conflict> conflicts, session.state.conflicts());
  for (const Conflict& conflict : conflicts) needs.references.insert("refs/heads/" + conflict_branch(conflict.id));
  return collect_history(session.own("history.git"), needs, options, [&session] { return session.check_cancelled(); });
}

}  // namespace ws::sync
