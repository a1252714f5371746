#include "sync-engine/attachments/restore_attachment.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sync-engine/attachments/blob_folder.hpp"
#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/attachments/transfers.hpp"
#include "sync-engine/changes/edit_files.hpp"
#include "sync-engine/manifest/known_list.hpp"
#include "sync-engine/tree/hash.hpp"

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

}  // namespace

Result<std::vector<HistoryState>> attachment_states(Session& session, const RelativePath& path) {
  std::vector<HistoryState> states;
  if (!session.knows_attachments()) return states;
  AttachmentStore store = session.attachments();
  WS_LET(const std::vector<AttachmentVersion> versions, store.versions(path));
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

Result<void> put_in_place(Session& session,
                          const FileStep& step,
                          const std::optional<Attachment>& file,
                          ChangeOrigin origin) {
  if (file) WS_TRY(bring_bytes(session, *file));
  if (step.from) {
    AttachmentStore store = session.attachments();
    WS_LET(SafeWriter kept, SafeWriter::open(session.root, attachments_folder));
    WS_LET(const auto known, store.find_asset(*step.seen));
    WS_TRY(ensure_backup(session, kept, *step.from, *step.seen, known));
  }
  return carry_out_step(session, step, origin);
}

Result<Restored> restore_attachment(Session& session,
                                    const Clock& clock,
                                    const RelativePath& path,
                                    const std::optional<std::string>& at,
                                    bool dry_run) {
  AttachmentStore store = session.attachments();
  WS_LET(const std::vector<AttachmentVersion> versions, store.versions(path));
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
  FileStep step{.to = path, .seen = now, .result = file.hash};
  if (now) step.from = path;
  WS_TRY(put_in_place(session, step, file, ChangeOrigin::restored));
  if (version.how != replaced_unsent) WS_TRY(store.add_version(clock.now(), path, file, "restored"));
  return restored;
}

std::vector<ListedAttachment> list_attachments(const AttachmentSurvey& found) {
  std::map<RelativePath, std::string_view> states;
  for (const auto& [path, row] : found.sides.base) states.emplace(path, "in step");
  for (const auto& [path, row] : found.sides.remote) states.emplace(path, "in step");
  for (auto& [path, state] : states) {
    const auto here = found.sides.local.find(path);
    if (here == found.sides.local.end()) {
      state = "not here";
    } else if (here->second.hidden) {
      state = name(*here->second.hidden);
    }
  }
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
    const auto mark = found.marks.find(path.string());
    if (mark != found.marks.end()) one.by = mark->second.by;
    listed.push_back(std::move(one));
  }
  return listed;
}

Result<DocumentId> find_list_part(Session& session, const RelativePath& file) {
  AttachmentStore store = session.attachments();
  WS_LET(const KnownList list, load_list(store));
  for (const auto& [document, rows] : list.rows_by_part) {
    if (rows.contains(file)) return document;
  }
  return DocumentId{};
}

}  // namespace ws::sync
