#include "sync-engine/steps/look_again.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sync-engine/steps/conflict_files.hpp"
#include "sync-engine/steps/survey.hpp"

namespace ws::sync {
namespace {

using MaybeConflict = std::optional<Conflict>;

Result<MaybeConflict> find_open(Session& session, const std::string& id) {
  WS_LET(const std::vector<Conflict> open, session.state.conflicts());
  const auto found = std::find_if(open.begin(), open.end(), [&](const Conflict& each) { return each.id == id; });
  return found == open.end() ? MaybeConflict() : MaybeConflict(*found);
}

Result<void> record_anew(Session& session, const Conflict& conflict, std::optional<std::string> remote_text) {
  ThreeTexts texts = read_conflict_texts(session.root.path(), conflict.id);
  texts.remote = std::move(remote_text);
  WS_TRY(write_conflict_texts(session, conflict.id, texts));
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  WS_TRY(session.state.put_conflict(conflict));
  return transaction.commit();
}

/// What the service recorded: its document is asked for.
Result<MaybeConflict> look_at_document(Session& session, Conflict conflict) {
  if (conflict.document.empty()) return MaybeConflict(std::move(conflict));
  WS_LET(PulledItem item, session.remote->content(conflict.document));
  if (item.deleted) {
    if (!conflict.local) return MaybeConflict();  // gone on both sides
    if (!conflict.remote) return MaybeConflict(std::move(conflict));
    conflict.remote.reset();
    conflict.kind = ConflictKind::edit_delete;
    WS_TRY(record_anew(session, conflict, std::nullopt));
    return MaybeConflict(std::move(conflict));
  }
  if (!item.content) return fail(Failure::Kind::service, "the service sent no text");
  const Sha256 hash = Sha256::of(*item.content);
  if (conflict.remote && conflict.remote->revision == item.revision && conflict.remote->hash == hash) {
    return MaybeConflict(std::move(conflict));
  }
  const RelativePath path = conflict.remote ? conflict.remote->path : conflict.path;
  conflict.remote = Entry{.path = path, .hash = hash, .revision = item.revision};
  if (conflict.kind == ConflictKind::edit_delete) conflict.kind = ConflictKind::revision;
  WS_TRY(record_anew(session, conflict, std::move(item.content)));
  return MaybeConflict(std::move(conflict));
}

/// What is about names: only a plan tells.
Result<MaybeConflict> look_at_places(Session& session, Conflict conflict) {
  WS_LET(const Survey now, survey(session, {.merge = false}, Pulled::keep));
  const auto planned = std::find_if(now.plan.conflicts.begin(), now.plan.conflicts.end(), [&](const Conflict& each) {
    return each.document == conflict.document && (each.path == conflict.path || !conflict.document.empty());
  });
  if (planned == now.plan.conflicts.end()) return MaybeConflict();
  const bool is_as_recorded = planned->kind == conflict.kind && planned->path == conflict.path &&
                              planned->local == conflict.local && planned->remote == conflict.remote;
  if (is_as_recorded) return MaybeConflict(std::move(conflict));
  conflict.kind = planned->kind;
  conflict.path = planned->path;
  conflict.base = planned->base;
  conflict.local = planned->local;
  conflict.remote = planned->remote;
  std::optional<std::string> text;
  const auto there = now.pending.find(conflict.document);
  if (there != now.pending.end() && !there->second.blob.empty()) {
    WS_LET(text, session.history.text(there->second.blob));
  }
  WS_TRY(record_anew(session, conflict, std::move(text)));
  return MaybeConflict(std::move(conflict));
}

}  // namespace

Result<std::optional<Conflict>> look_again(Session& session, const Conflict& conflict) {
  WS_LET(MaybeConflict open, find_open(session, conflict.id));
  if (!open || open->kind == ConflictKind::rewound) return open;
  if (is_about_place(*open)) return look_at_places(session, std::move(*open));
  return look_at_document(session, std::move(*open));
}

}  // namespace ws::sync
