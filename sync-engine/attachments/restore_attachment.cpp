#include "sync-engine/attachments/restore_attachment.hpp"

#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sync-engine/attachments/blob_folder.hpp"
#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/attachments/transfers.hpp"

namespace ws::sync {
namespace {

constexpr std::size_t state_id_digits = 40;

std::string state_id(const AttachmentVersion& version) {
  if (version.file) return version.file->hash.hex().substr(0, state_id_digits);
  return Sha256::of(fmt::format("{}\n{}", version.place, version.path.text())).hex().substr(0, state_id_digits);
}

Result<AttachmentVersion> find_version(const std::vector<AttachmentVersion>& versions,
                                       const RelativePath& path,
                                       const std::optional<std::string>& at,
                                       const std::optional<Sha256>& now) {
  for (const AttachmentVersion& version : versions) {
    if (!version.file) continue;
    if (at ? state_id(version).starts_with(*at) : version.file->hash != now) return version;
  }
  return fail(Failure::Kind::not_found,
              at ? fmt::format("no state {} of {} is known", *at, path.text())
                 : fmt::format("no other state of {} is known", path.text()),
              "`ws sync log` lists what is known");
}

std::string_view word_of_action(ActionKind kind) {
  switch (kind) {
    case ActionKind::push_create:
    case ActionKind::push_update: return "to send";
    case ActionKind::push_delete: return "to remove from the list";
    case ActionKind::push_move: return "to rename on the service";
    case ActionKind::pull_create:
    case ActionKind::pull_update: return "to receive";
    case ActionKind::pull_delete: return "to delete here";
    case ActionKind::pull_move: return "to rename here";
    case ActionKind::conflict: return "conflict";
    case ActionKind::adopt:
    case ActionKind::merge:
    case ActionKind::unchanged: return "in step";
  }
  return "";
}

constexpr std::string_view changed_since = "changed since";

std::optional<Sha256> hash_of_version(const std::optional<Version>& version) {
  return version ? std::optional(version->hash) : std::nullopt;
}

/// Of the file now; empty: there is none.
std::optional<Sha256> hash_now(LocalFiles& files, const RelativePath& path) {
  const auto seen = files.look_at(path.string(), max_attachment_bytes);
  if (!seen) return std::nullopt;
  return seen->hidden ? Sha256::of("") : seen->hash;
}

class AttachmentUndo {
 public:
  AttachmentUndo(Session& session, AttachmentStore& store, SafeWriter& writer)
      : session_(session), store_(store), writer_(writer), files_(session) {}

  Result<void> take(const UndoStep& step) {
    const RelativePath& path = step.to ? *step.to : *step.from;
    const auto now = hash_now(files_, path);
    if (now == step.result) return {};  // done before an interruption
    if (now != step.seen) return leave(path, changed_since);
    auto done = step.result ? bring(path, *step.result, now) : remove(path, *now);
    if (done) return done;
    switch (done.error().kind) {
      case Failure::Kind::not_found: return leave(path, "its bytes are neither here nor on the service");
      case Failure::Kind::conflict: return leave(path, changed_since);
      default: return done;
    }
  }

  std::vector<LeftAlone> left = {};

 private:
  Result<void> leave(const RelativePath& path, std::string_view why) {
    left.push_back({.path = path, .why = std::string(why)});
    return {};
  }

  Assets* assets() const { return session_.remote == nullptr ? nullptr : session_.remote->assets(); }

  Result<void> keep(const RelativePath& path, const Sha256& now) {
    WS_LET(const auto known, store_.find_asset(now));
    return ensure_backup(writer_, assets(), path, now, known);
  }

  /// With the Asset that held these bytes when this was the path's file: another client may have uploaded it.
  Result<Attachment> known_file(const RelativePath& path, const Sha256& hash) {
    WS_LET(const std::vector<AttachmentVersion> versions, store_.versions(path));
    for (const AttachmentVersion& version : versions) {
      if (version.file && version.file->hash == hash) return *version.file;
    }
    return Attachment{.hash = hash};
  }

  Result<void> bring(const RelativePath& path, const Sha256& hash, const std::optional<Sha256>& now) {
    WS_LET(const Attachment file, known_file(path, hash));
    WS_TRY(bring_bytes(session_, store_, writer_, file));
    if (now) WS_TRY(keep(path, *now));
    WS_LET(const Staged staged, writer_.stage_copy(hash.hex(), hash));
    WS_TRY(writer_.flush_texts());
    WS_TRY(writer_.place(staged, path, now));
    return store_.put_wanted(path);
  }

  Result<void> remove(const RelativePath& path, const Sha256& now) {
    WS_TRY(keep(path, now));
    return writer_.remove(path, now);
  }

  Session& session_;
  AttachmentStore& store_;
  SafeWriter& writer_;
  LocalFiles files_;
};

}  // namespace

Result<void> bring_bytes(Session& session, AttachmentStore& store, const SafeWriter& writer, const Attachment& file) {
  if (writer.has(file.hash.hex(), file.hash)) return {};
  Assets* const assets = session.remote == nullptr ? nullptr : session.remote->assets();
  if (assets == nullptr) {
    Failure needs{.kind = Failure::Kind::usage, .what = "this needs the service", .hint = "log in"};
    needs.code = "needs_service";
    return fail(std::move(needs));
  }
  Attachment wanted = file;
  if (wanted.asset.empty()) {
    WS_LET(const auto known, store.find_asset(file.hash));
    if (!known) return fail(Failure::Kind::not_found, "these bytes are neither here nor on the service");
    wanted = *known;
  }
  Transfers transfers(session, store, *assets);
  transfers.fetch(wanted);
  const TransferOutcome outcome = transfers.run();
  const auto why = outcome.not_downloaded.find(file.hash);
  return why == outcome.not_downloaded.end() ? Result<void>() : fail(Failure(why->second));
}

Result<std::vector<HistoryState>> attachment_states(Session& session, const RelativePath& path) {
  std::vector<HistoryState> states;
  if (!session.knows_attachments()) return states;
  WS_LET(AttachmentStore* const store, session.attachments());
  WS_LET(const std::vector<AttachmentVersion> versions, store->versions(path));
  for (const AttachmentVersion& version : versions) {
    HistoryChange change{.path = path.string()};
    if (version.file) change.blob = git::ObjectId{};
    states.push_back({.id = state_id(version),
                      .time = Time(std::chrono::seconds(version.seconds)),
                      .message = version.how,
                      .changes = {std::move(change)}});
  }
  return states;
}

Result<void> record_bytes(Session& session,
                          ChangeOrigin origin,
                          const RelativePath& path,
                          const std::optional<Sha256>& before,
                          const std::optional<Sha256>& after) {
  OperationRow row{.origins = origin};
  if (before) row.before = Version{.path = path, .hash = *before};
  if (after) row.after = Version{.path = path, .hash = *after};
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  WS_TRY(session.state.operations().record(row));
  return transaction.commit();
}

Result<Restored> restore_attachment(Session& session,
                                    const Clock& clock,
                                    const RelativePath& path,
                                    const std::optional<std::string>& at,
                                    bool dry_run) {
  WS_LET(AttachmentStore* const store, session.attachments());
  WS_LET(const std::vector<AttachmentVersion> versions, store->versions(path));
  LocalFiles files(session);
  const auto seen = files.look_at(path.string(), max_attachment_bytes);
  if (seen && seen->hidden && *seen->hidden != SkipReason::empty) {
    return fail(Failure::Kind::disk, fmt::format("{} cannot be replaced: {}", path.text(), name(*seen->hidden)));
  }
  std::optional<Sha256> now;
  if (seen) now = seen->hidden ? Sha256::of("") : seen->hash;
  WS_LET(const AttachmentVersion version, find_version(versions, path, at, now));
  const Attachment& file = *version.file;
  Restored restored{.path = path, .state = state_id(version), .changed = now != file.hash};
  if (!restored.changed || dry_run) return restored;
  WS_LET(SafeWriter writer, SafeWriter::open(session.root, attachments_folder));
  WS_TRY(bring_bytes(session, *store, writer, file));
  Assets* const assets = session.remote == nullptr ? nullptr : session.remote->assets();
  if (now) {
    WS_LET(const auto known, store->find_asset(*now));
    WS_TRY(ensure_backup(writer, assets, path, *now, known));
  }
  WS_LET(const Staged staged, writer.stage_copy(file.hash.hex(), file.hash));
  WS_TRY(writer.flush_texts());
  WS_TRY(writer.place(staged, path, now));
  WS_TRY(writer.flush_folders());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock.now().time_since_epoch()).count();
  WS_TRY(store->put_wanted(path));
  WS_TRY(store->add_version({.seconds = seconds, .path = path, .file = file, .how = "restored"}));
  WS_TRY(record_bytes(session, ChangeOrigin::restored, path, now, file.hash));
  return restored;
}

std::vector<ListedAttachment> list_attachments(const AttachmentSurvey& found) {
  std::map<RelativePath, std::string_view> states;
  for (const auto& [path, row] : found.sides.base) states.emplace(path, "in step");
  for (const auto& [path, row] : found.sides.remote) states.emplace(path, "in step");
  for (const Action& action : found.plan.actions) states.insert_or_assign(action.path, word_of_action(action.kind));
  for (const AttachmentCollision& each : found.plan.collisions) states.insert_or_assign(each.path, "conflict");
  for (const Skipped& each : found.plan.skipped) {
    if (auto path = RelativePath::parse(each.path)) states.insert_or_assign(std::move(*path), name(each.reason));
  }
  std::vector<ListedAttachment> listed;
  for (const auto& [path, state] : states) {
    ListedAttachment one{.path = path, .state = state};
    const auto there = found.sides.remote.find(path);
    const auto here = found.sides.local.find(path);
    if (there != found.sides.remote.end()) {
      one.file = there->second;
    } else if (here != found.sides.local.end()) {
      one.file = Attachment{.size_bytes = here->second.size_bytes, .hash = here->second.hash};
    }
    const auto notes = found.shown.notes.find(path);
    if (notes != found.shown.notes.end()) one.notes = notes->second;
    listed.push_back(std::move(one));
  }
  return listed;
}

bool is_about_bytes(const Session& session, const OperationRow& row) {
  const bool keeps_bytes = row.before && row.after && row.before->hash == row.after->hash;
  return row.document.empty() && !keeps_bytes && !session.kinds.takes(row.path().text());
}

bool is_about_bytes(const Session& session, const UndoStep& step) {
  const RelativePath& path = step.to ? *step.to : *step.from;
  return step.seen != step.result && !session.kinds.takes(path.text());
}

void plan_attachment_undo(Session& session,
                          const std::vector<OperationRow>& rows,
                          const UndoOptions& options,
                          UndoPlan& plan) {
  LocalFiles files(session);
  for (const OperationRow& row : rows) {
    const RelativePath& path = row.path();
    if (options.only && !options.only(path)) {
      plan.is_partial = true;
      continue;
    }
    UndoStep step{.seen = hash_of_version(row.after), .result = hash_of_version(row.before)};
    if (row.after) step.from = path;
    if (row.before) step.to = path;
    const auto now = hash_now(files, path);
    if (now == step.result) continue;
    if (now != step.seen) {
      plan.left.push_back({.path = path, .why = std::string(changed_since)});
      continue;
    }
    plan.steps.push_back(std::move(step));
    plan.documents.emplace_back();
  }
}

Result<std::vector<LeftAlone>> undo_attachments(Session& session, const std::vector<UndoStep>& steps) {
  if (steps.empty()) return std::vector<LeftAlone>();
  WS_LET(AttachmentStore* const store, session.attachments());
  WS_LET(SafeWriter writer, SafeWriter::open(session.root, attachments_folder));
  AttachmentUndo undo(session, *store, writer);
  for (const UndoStep& step : steps) {
    WS_TRY(session.check_cancelled());
    WS_TRY(undo.take(step));
  }
  WS_TRY(writer.flush_folders());
  return std::move(undo.left);
}

}  // namespace ws::sync
