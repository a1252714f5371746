#include "sync-engine/conflicts/recorded_conflict.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sync-engine/changes/replace_file.hpp"
#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/merge/merge.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {
namespace {

using MaybeConflict = std::optional<Conflict>;

Result<void> record_anew(Session& session,
                         const Conflict& conflict,
                         std::optional<std::string> remote_text,
                         const std::optional<PendingRow>& pending = {}) {
  ThreeTexts texts = read_conflict_texts(session.root, conflict.id);
  texts.remote = std::move(remote_text);
  WS_TRY(write_conflict_texts(session, conflict.id, texts));
  WS_TRY(session.history.flush());
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  if (pending) WS_TRY(session.state.put_pending(conflict.document, *pending));
  WS_TRY(session.state.put_conflict(conflict));
  return transaction.commit();
}

/// The document's path on the service as far as it is known: the answer to a request for the text does not have it.
Result<RelativePath> path_there(Session& session, const Conflict& conflict) {
  if (conflict.remote) return conflict.remote->path;
  WS_LET(const auto pending, session.state.pending());
  const auto there = pending.find(conflict.document);
  if (there != pending.end() && there->second.entry) return there->second.entry->path;
  return conflict.base ? conflict.base->path : conflict.path;
}

/// A conflict about a text: reads the document from the service.
Result<MaybeConflict> refresh_text(Session& session, Conflict conflict) {
  if (conflict.document.empty()) return MaybeConflict(std::move(conflict));
  WS_LET(PulledItem item, session.remote->content(conflict.document));
  if (item.deleted) {
    if (!conflict.local) return MaybeConflict();  // gone on both sides
    if (!conflict.remote) return MaybeConflict(std::move(conflict));
    conflict.remote.reset();
    conflict.which = ConflictCase::edited_and_archived;
    WS_TRY(record_anew(session, conflict, std::nullopt, PendingRow{.revision = item.revision}));
    return MaybeConflict(std::move(conflict));
  }
  if (!item.content) return fail(Failure::Kind::service, "the service sent no text");
  const Sha256 hash = Sha256::of(*item.content);
  if (conflict.remote && conflict.remote->revision == item.revision && conflict.remote->hash == hash) {
    return MaybeConflict(std::move(conflict));
  }
  WS_LET(const RelativePath path, path_there(session, conflict));
  conflict.remote = Entry{.path = path, .hash = hash, .revision = item.revision};
  // Another revision, or a document that was archived and lives again.
  if (conflict.which == ConflictCase::edited_and_archived || conflict.kind() == ConflictKind::revision)
    conflict.which = find_text_case(conflict);
  // Stored as pending: a pull that starts after this change would not bring it.
  PendingRow pending{.entry = conflict.remote, .revision = item.revision};
  WS_LET(pending.blob, session.history.keep(*item.content));
  WS_TRY(record_anew(session, conflict, std::move(item.content), pending));
  return MaybeConflict(std::move(conflict));
}

/// A conflict about a path: makes a plan and looks for it there.
Result<MaybeConflict> refresh_place(Session& session, Conflict conflict) {
  WS_LET(const Survey now, survey(session, {.merge = false}, PullMode::store));
  WS_TRY(store_survey(session, now));
  const auto planned = std::find_if(now.plan.conflicts.begin(), now.plan.conflicts.end(), [&](const Conflict& each) {
    return each.document == conflict.document && (each.path == conflict.path || !conflict.document.empty());
  });
  if (planned == now.plan.conflicts.end()) return MaybeConflict();
  const bool is_as_recorded = planned->kind() == conflict.kind() && planned->path == conflict.path &&
                              planned->local == conflict.local && planned->remote == conflict.remote;
  if (is_as_recorded) return MaybeConflict(std::move(conflict));
  conflict.which = planned->which;
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

constexpr std::string_view our_label = "local";
constexpr std::string_view their_label = "remote";

Result<ThreeTexts> recorded_texts(const Session& session, const Conflict& conflict) {
  ThreeTexts texts = read_conflict_texts(session.root, conflict.id);
  if (!conflict.is_about(ConflictSubject::text) || !texts.local || !texts.remote) {
    return fail(Failure::Kind::usage,
                fmt::format("{} does not have two texts to merge", conflict.path.text()),
                "use --keep mine, theirs or both");
  }
  return texts;
}

Failure left_markers(const Conflict& conflict) {
  return {.kind = Failure::Kind::usage,
          .what = fmt::format("{} still has conflict markers", conflict.path.text()),
          .hint = "edit the file, remove them, then use --keep merged"};
}

}  // namespace

Result<std::optional<Conflict>> refresh_conflict(Session& session, const Conflict& conflict) {
  WS_LET(MaybeConflict open, session.state.find_conflict(conflict.id));
  if (!open || open->is_about(ConflictSubject::revision)) return open;
  if (open->is_about(ConflictSubject::place)) return refresh_place(session, std::move(*open));
  return refresh_text(session, std::move(*open));
}

Failure refresh_after_refusal(Session& session, const Conflict& conflict, Failure refusal) {
  if (refusal.kind != Failure::Kind::conflict || refusal.code == "conflict_resolved") return refusal;
  const auto now = refresh_conflict(session, conflict);
  if (!now || !*now || **now == conflict) return refusal;
  refusal.what = fmt::format("{} changed on the service: the conflict shows it as it is now", conflict.path.text());
  refusal.hint = "look at it with `ws sync conflicts`, then decide again";
  return refusal;
}

Failure changed_again(const Conflict& conflict) {
  return {.kind = Failure::Kind::conflict,
          .what = fmt::format("{} changed on the service again", conflict.path.text()),
          .hint = "`ws sync` shows it as it is now; then decide"};
}

Result<void> write_markers(Session& session, const Conflict& conflict) {
  WS_LET(const ThreeTexts texts, recorded_texts(session, conflict));
  WS_LET(const SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(const std::optional<std::string> now, read_if_there(writer, conflict.path));
  if (now && is_being_merged(session.root, conflict.id, *now)) return fail(left_markers(conflict));
  WS_LET(const merge::Merge merged,
         merge::merge_markdown(
             texts.base.value_or(""), *texts.local, *texts.remote, {.merge_later = session.config.merge_later}));
  const std::string marked = merge::with_markers(merged, our_label, their_label);
  WS_TRY(replace_file(session, conflict.document, conflict.path, now, marked));
  return mark_merging_by_hand(session.root, conflict.id, Sha256::of(*texts.local));
}

Result<std::string> merged_text(Session& session, const Conflict& conflict) {
  WS_LET(const ThreeTexts texts, recorded_texts(session, conflict));
  WS_LET(const SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(std::optional<std::string> now, read_if_there(writer, conflict.path));
  if (now && is_being_merged(session.root, conflict.id, *now)) return fail(left_markers(conflict));
  if (now && is_merged_by_hand(session.root, conflict.id, *now)) return std::move(*now);
  if (!now && is_merging_by_hand(session.root, conflict.id)) {
    return fail(Failure::Kind::conflict,
                fmt::format("{}, which had both texts, is gone", conflict.path.text()),
                "give the merged text with --file FILE|-");
  }
  if (!now) now = texts.local;
  WS_LET(
      const merge::Merge merged,
      merge::merge_markdown(texts.base.value_or(""), *now, *texts.remote, {.merge_later = session.config.merge_later}));
  if (merged.is_clean()) return merged.text();
  return fail(Failure::Kind::usage,
              fmt::format("the texts at {} collide, so --keep merged needs the merged text", conflict.path.text()),
              "give it with --file FILE|-, or --markers puts both into the file for you to edit");
}

}  // namespace ws::sync
