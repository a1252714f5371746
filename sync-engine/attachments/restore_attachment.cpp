#include "sync-engine/attachments/restore_attachment.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "sync-engine/attachments/blob_folder.hpp"
#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/attachments/sync_attachments.hpp"
#include "sync-engine/attachments/transfers.hpp"
#include "sync-engine/changes/carry_out.hpp"
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

/// Brings the bytes into `.ws/attachments`, under the name of their hash, where they are not there yet. Fails with
/// `not_found`, with code `needs_service`, or as a download does.
Result<void> bring_bytes(Session& session, AttachmentStore& store, const SafeWriter& writer, const Attachment& file) {
  if (writer.has(file.hash.hex(), file.hash)) return {};
  Assets* const assets = session.assets();
  if (assets == nullptr) {
    return fail(Failure{.kind = Failure::Kind::usage,
                        .what = "this cannot be done without the service",
                        .hint = "run `ws login`",
                        .code = "needs_service"});
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

Result<void> back_up(
    Session& session, AttachmentStore& store, SafeWriter& writer, const RelativePath& path, const Sha256& now) {
  WS_LET(const auto known, store.find_asset(now));
  return ensure_backup(writer, session.assets(), path, now, known);
}

/// Whether a file that was accepted had replaced these bytes, and they were never sent since.
Result<bool> are_unsent(AttachmentStore& store, const RelativePath& path, const Sha256& hash) {
  WS_LET(const std::vector<AttachmentVersion> versions, store.versions(path));
  const auto last = std::ranges::find_if(
      versions, [&](const AttachmentVersion& each) { return each.file && each.file->hash == hash; });
  return last != versions.end() && last->how == replaced_unsent;
}

/// The bytes of `file` in the place of those that are `now` at the path; empty: none are. What this tree never sent is
/// held again: bringing it back is no wish to send it.
Result<void> put_bytes_in_place(Session& session,
                                AttachmentStore& store,
                                SafeWriter& writer,
                                const RelativePath& path,
                                const Attachment& file,
                                const std::optional<Sha256>& now) {
  WS_TRY(bring_bytes(session, store, writer, file));
  if (now) WS_TRY(back_up(session, store, writer, path, *now));
  WS_LET(const Staged staged, writer.stage_copy(file.hash.hex(), file.hash));
  WS_TRY(writer.flush_texts());
  WS_TRY(record_bytes(session, ChangeOrigin::restored, path, now, file.hash));
  WS_LET(const bool is_held, are_unsent(store, path, file.hash));
  if (is_held) WS_TRY(store.hold_again(path));
  const auto before = find_file_id(session.root, path);
  WS_TRY(writer.place(staged, path, now));
  if (const auto id = find_file_id(session.root, path)) WS_TRY(store.put_written(path, before, *id));
  return is_held ? Result<void>() : store.put_wanted(path);
}

/// The files of an undo. What stands elsewhere by now, or cannot be brought, is left.
class AttachmentUndo {
 public:
  AttachmentUndo(Session& session, AttachmentStore& store, SafeWriter& writer, const std::vector<FileStep>& steps)
      : session_(session), store_(store), writer_(writer), steps_(steps), staged_(steps.size()) {}

  Result<std::vector<LeftAlone>> run() {
    const BegunSteps begun(writer_, steps_);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      WS_TRY(session_.check_cancelled());
      const FileStep& step = steps_[i];
      if (step.to && begun.is_written(step)) continue;
      if (auto ready = prepare(step, staged_[i]); !ready) staged_[i] = fail(std::move(ready).error());
    }
    WS_TRY(writer_.flush_texts());
    WS_TRY(carry_out(writer_, steps_, staged_, true, [this](std::size_t step, Result<void> outcome) {
      return end(steps_[step], std::move(outcome));
    }));
    return std::move(left_);
  }

 private:
  /// Keeps what is replaced or removed, brings what takes its place, and says first whose it is.
  Result<void> prepare(const FileStep& step, std::optional<Result<Staged>>& staged) {
    const bool writes = step.to && step.seen != step.result;
    if (step.from && (writes || !step.to)) WS_TRY(keep(step));
    if (!step.to) return {};
    if (step.from) replaced_.emplace(&step, find_file_id(session_.root, *step.from));
    if (writes) {
      WS_LET(const Attachment file, known_file(*step.to, *step.result));
      WS_TRY(bring_bytes(session_, store_, writer_, file));
      staged = writer_.stage_copy(file.hash.hex(), file.hash);
    }
    WS_LET(const bool is_held, are_unsent(store_, *step.to, *step.result));
    return is_held ? store_.hold_again(*step.to) : Result<void>();
  }

  /// A call that was cut off may have removed or renamed it.
  Result<void> keep(const FileStep& step) {
    WS_LET(const auto now, writer_.hash(*step.from));
    if (now) return back_up(session_, store_, writer_, *step.from, *step.seen);
    WS_LET(const auto there, step.is_rename() ? writer_.hash(*step.to) : Result<std::optional<Sha256>>(std::nullopt));
    return there == step.seen ? back_up(session_, store_, writer_, *step.to, *step.seen) : Result<void>();
  }

  Result<void> end(const FileStep& step, Result<void> outcome) {
    if (!outcome) return leave_or_end(step, std::move(outcome));
    if (!step.to) return {};
    const auto id = find_file_id(session_.root, *step.to);
    if (id) WS_TRY(store_.put_written(*step.to, replaced_[&step], *id));
    WS_LET(const bool is_held, are_unsent(store_, *step.to, *step.result));
    return is_held ? Result<void>() : store_.put_wanted(*step.to);
  }

  Result<void> leave_or_end(const FileStep& step, Result<void> outcome) {
    const auto leave = [&](std::string_view why) -> Result<void> {
      left_.push_back({.path = step.from ? *step.from : *step.to, .why = std::string(why)});
      return {};
    };
    switch (outcome.error().kind) {
      case Failure::Kind::not_found: return leave("its bytes are neither here nor on the service");
      case Failure::Kind::conflict: return leave(changed_since);
      case Failure::Kind::disk: return leave("it could not be written");
      default: return outcome;
    }
  }

  /// With the Asset that held these bytes when this was the path's file: another client may have uploaded it.
  Result<Attachment> known_file(const RelativePath& path, const Sha256& hash) {
    WS_LET(const std::vector<AttachmentVersion> versions, store_.versions(path));
    for (const AttachmentVersion& version : versions) {
      if (version.file && version.file->hash == hash) return *version.file;
    }
    return Attachment{.hash = hash};
  }

  Session& session_;
  AttachmentStore& store_;
  SafeWriter& writer_;
  const std::vector<FileStep>& steps_;
  StagedTexts staged_;
  std::map<const FileStep*, std::optional<FileId>> replaced_;  ///< which file each of them wrote anew
  std::vector<LeftAlone> left_;
};

class AttachmentDecision {
 public:
  AttachmentDecision(Session& session, const Clock& clock, AttachmentStore& store, SafeWriter& writer)
      : session_(session), clock_(clock), store_(store), writer_(writer) {}

  Result<void> decide(const RelativePath& path, const OpenAttachment& open, Keep keep) {
    if (open.from && open.there) {
      WS_TRY(choose_name(path, open, keep));
      return store_.drop_conflict(path);
    }
    switch (keep) {
      case Keep::merged:
        return fail(Failure::Kind::usage,
                    fmt::format("{} is not a text that can be merged", path.text()),
                    "give --keep mine, theirs or both");
      case Keep::local: WS_TRY(keep_ours(path, open)); break;
      case Keep::remote: WS_TRY(take_theirs(path, open)); break;
      case Keep::both: WS_TRY(keep_both(path, open)); break;
    }
    if (keep != Keep::remote) WS_TRY(record(path, open, keep));
    return store_.drop_conflict(path);
  }

 private:
  /// Both sides agree on the name there from now on: ours is a rename of it, which the next run sends.
  Result<void> choose_name(const RelativePath& path, const OpenAttachment& open, Keep keep) {
    if (keep != Keep::local && keep != Keep::remote) {
      return fail(Failure::Kind::usage,
                  fmt::format("{} is one file with two names, and cannot keep both", path.text()),
                  "use --path mine or --path theirs");
    }
    if (keep == Keep::remote) {
      const Sha256& hash = open.local->hash;
      const OperationRow row{.origins = ChangeOrigin::decided,
                             .before = Version{.path = path, .hash = hash},
                             .after = Version{.path = *open.there, .hash = hash}};
      WS_LET(sqlite::Transaction transaction, session_.state.begin());
      WS_TRY(session_.state.operations().record_planned(row));
      WS_TRY(transaction.commit());
      WS_TRY(writer_.move(path, *open.there, hash));
      WS_TRY(writer_.flush_folders());
    }
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    WS_TRY(store_.put_base(*open.there, *open.remote));
    WS_TRY(store_.forget_base(*open.from));
    WS_TRY(store_.put_wanted(keep == Keep::remote ? *open.there : path));
    return transaction.commit();
  }

  /// What an undo takes back: before the file here is replaced, or the conflict ends.
  Result<void> record(const RelativePath& path, const OpenAttachment& open, Keep keep) {
    const auto hash_of = [](const std::optional<Attachment>& file) {
      return file ? std::optional(file->hash) : std::nullopt;
    };
    const std::optional<Sha256> local = hash_of(open.local);
    return record_bytes(
        session_, ChangeOrigin::decided, path, local, keep == Keep::remote ? hash_of(open.remote) : local);
  }

  Result<void> note(const RelativePath& path, const std::optional<Attachment>& file, std::string_view how) {
    return store_.add_version(clock_.now(), path, file, how);
  }

  /// What the service has is what both sides agree on from now on: ours is an edit of it, which the next run sends.
  Result<void> agree_on_theirs(const RelativePath& path, const OpenAttachment& open) {
    return open.remote ? store_.put_base(path, *open.remote) : store_.forget_base(path);
  }

  Result<void> drop_beside(const OpenAttachment& open) {
    // One that somebody changed stays.
    if (open.beside && open.remote) static_cast<void>(writer_.remove(*open.beside, open.remote->hash));
    return writer_.flush_folders();
  }

  Result<void> keep_ours(const RelativePath& path, const OpenAttachment& open) {
    // Nothing else would tell which Asset has the bytes that lost.
    if (open.remote) WS_TRY(note(path, open.remote, "not kept in a conflict"));
    WS_TRY(agree_on_theirs(path, open));
    return drop_beside(open);
  }

  Result<void> keep_both(const RelativePath& path, const OpenAttachment& open) {
    WS_TRY(agree_on_theirs(path, open));
    return open.beside ? store_.put_wanted(*open.beside) : Result<void>();
  }

  Result<void> take_theirs(const RelativePath& path, const OpenAttachment& open) {
    if (!open.local) {
      return fail(Failure::Kind::conflict,
                  fmt::format("{} was removed here, and another file may have its name", path.text()),
                  "give --keep mine, or both to have theirs beside it");
    }
    WS_LET(const auto now, writer_.hash(path));
    const bool is_placed = now == (open.remote ? std::optional(open.remote->hash) : std::nullopt);
    // One that an earlier call placed is in that call's operation.
    if (!is_placed) WS_TRY(place_theirs(path, open));
    WS_TRY(drop_beside(open));
    return agree_on_theirs(path, open);
  }

  /// Not done again where an earlier call was cut off after it.
  Result<void> place_theirs(const RelativePath& path, const OpenAttachment& open) {
    WS_TRY(ensure_backup(writer_, session_.assets(), path, open.local->hash, open.base));
    WS_TRY(note(path, open.local, "replaced"));
    if (!open.remote) {
      WS_TRY(record(path, open, Keep::remote));
      return writer_.remove(path, open.local->hash);
    }
    const Sha256& hash = open.remote->hash;
    const bool is_beside = open.beside && writer_.keep_copy(*open.beside, hash);
    if (!is_beside) WS_TRY(bring_bytes(session_, store_, writer_, *open.remote));
    WS_LET(const Staged staged, writer_.stage_file(hash.hex(), hash));
    WS_TRY(record(path, open, Keep::remote));
    WS_TRY(writer_.place(staged, path, open.local->hash));
    return note(path, open.remote, "received");
  }

  Session& session_;
  const Clock& clock_;
  AttachmentStore& store_;
  SafeWriter& writer_;
};

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

Result<void> record_bytes(Session& session,
                          ChangeOrigin origin,
                          const RelativePath& path,
                          const std::optional<Sha256>& before,
                          const std::optional<Sha256>& after) {
  OperationRow row{.origins = origin};
  if (before) row.before = Version{.path = path, .hash = *before};
  if (after) row.after = Version{.path = path, .hash = *after};
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  WS_TRY(session.state.operations().record_planned(row));
  return transaction.commit();
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
  WS_LET(SafeWriter writer, SafeWriter::open(session.root, attachments_folder));
  WS_TRY(put_bytes_in_place(session, store, writer, path, file, now));
  WS_TRY(writer.flush_folders());
  if (version.how != replaced_unsent) WS_TRY(store.add_version(clock.now(), path, file, "restored"));
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
    const auto mark = found.marks.find(path.string());
    if (mark != found.marks.end()) one.by = mark->second.by;
    listed.push_back(std::move(one));
  }
  return listed;
}

bool is_about_file(const OperationRow& row) {
  return row.document.empty() && (row.after ? *row.after : *row.before).blob.empty();
}

bool is_about_bytes(const FileStep& step) {
  return step.seen != step.result && step.document.empty() && step.seen_blob.empty() && step.result_blob.empty();
}

Result<bool> is_unsent(Session& session, const FileStep& step) {
  if (!step.to || !step.result || !session.knows_attachments()) return false;
  AttachmentStore store = session.attachments();
  return are_unsent(store, *step.to, *step.result);
}

namespace {

/// Whether both sides have what the row made of a file.
bool is_agreed(const AttachmentTree& base, const OperationRow& row) {
  if (!row.after) return !base.contains(row.before->path);
  const auto known = base.find(row.after->path);
  if (known == base.end()) return false;
  const bool is_moved = row.before && row.before->path != row.after->path;
  return is_moved || known->second.hash == row.after->hash;
}

/// Plans what becomes of the files of an operation.
class FileUndo {
 public:
  /// `made`: the places that the operation gave to files.
  FileUndo(Session& session,
           const Operation& undone,
           const Scan& scan,
           const SafeWriter& writer,
           AttachmentTree base,
           std::set<RelativePath> made)
      : session_(session),
        undone_(undone),
        scan_(scan),
        writer_(writer),
        base_(std::move(base)),
        made_(std::move(made)),
        files_(session),
        excluded_(FileKinds::with(session.config.attachments_exclude)) {}

  Result<void> add(const OperationRow& row, UndoPlan& plan) {
    const RelativePath& path = row.path();
    const bool is_moved = row.before && row.after && row.before->path != row.after->path;
    const bool keeps_bytes = is_moved && row.before->hash == row.after->hash;
    FileStep step{.seen = hash_of_version(row.after), .result = hash_of_version(row.before)};
    if (row.after) step.from = row.after->path;
    if (row.before) step.to = row.before->path;
    const auto hash_at = [&](const RelativePath& place) {
      return keeps_bytes ? writer_.hash(place).value_or(std::nullopt) : hash_now(files_, place);
    };
    const auto now = hash_at(path);
    const bool is_unsent = !row.after && now && now == step.result && !base_.contains(path);
    if (is_unsent) {
      step.from = step.to;  // to be sent as it is
      step.seen = step.result;
    }
    const auto leave = [&](std::string_view why) {
      plan.left.push_back({.path = step.to ? *step.to : *step.from, .why = std::string(why)});
    };
    if (!is_unsent && (is_moved ? !now && hash_at(*step.to) == step.result : now == step.result)) {
      // Taken back already; but that it is gone here tells nothing of the service.
      if (!step.result && base_.contains(path)) leave("deleted here since");
      if (!step.result && is_renamed_since(row)) leave("renamed since");
      return {};
    }
    if (undone_.is_first) {
      const std::optional<StepSide> side = side_of_first(row);
      if (!side) {
        leave("both sides had it before this run");
        return {};
      }
      step.side = *side;
    }
    WS_LET(const std::string_view hidden,
           step.side == StepSide::here ? Result<std::string_view>("") : why_not_sent(row, step));
    if (!hidden.empty()) {
      leave(hidden);
    } else if (now != step.seen) {
      leave(changed_since);
    } else if (is_moved && session_.root.open_beneath(step.to->text(), O_PATH | O_NOFOLLOW)) {
      leave("another file is in its place");
    } else {
      plan.steps.push_back(std::move(step));
    }
    return {};
  }

 private:
  /// Whether both sides have these bytes by a name that this operation did not give them, and not by its own.
  bool is_renamed_since(const OperationRow& row) const {
    return !base_.contains(row.path()) && std::ranges::any_of(base_, [&](const auto& each) {
      return each.second.hash == row.after->hash && !made_.contains(each.first);
    });
  }

  /// Why the service would not get what it has to; empty: it would, or need not.
  Result<std::string_view> why_not_sent(const OperationRow& row, const FileStep& step) {
    const RelativePath& place = step.to ? *step.to : *step.from;
    const bool is_ignored = scan_.is_ignored(place);
    if (!is_agreed(base_, row)) {
      const bool arrives = step.to && step.to != step.from && !(step.from && scan_.is_ignored(*step.from));
      return arrives && is_ignored ? ignored_now : std::string_view();
    }
    if (session_.config.attachments == AttachmentMode::off) return "`attachments: off` keeps it from being synced";
    if (!session_.config.attachments_exclude.empty() && excluded_.takes(place.text()))
      return "`attachments_exclude` keeps it from being synced";
    if (is_ignored) return ignored_now;
    if (session_.config.portable_names && is_unportable(place)) return "`names: portable` keeps it from being synced";
    const auto here = step.from ? files_.look_at(step.from->string(), session_.config.attachments_max_bytes)
                                : std::optional<LocalAttachment>();
    bool is_too_large = here && here->hidden == SkipReason::too_large;
    if (step.result) {
      WS_LET(const auto known, session_.attachments().find_asset(*step.result));
      is_too_large = is_too_large || (known && known->size_bytes > session_.config.attachments_max_bytes);
    }
    return is_too_large ? "`attachments_max_bytes` keeps it from being synced" : std::string_view();
  }

  Session& session_;
  const Operation& undone_;
  const Scan& scan_;
  const SafeWriter& writer_;
  AttachmentTree base_;
  std::set<RelativePath> made_;
  LocalFiles files_;
  FileKinds excluded_;
};

}  // namespace

Result<void> plan_file_undo(Session& session,
                            const Operation& undone,
                            const Scan& scan,
                            const std::vector<OperationRow>& rows,
                            const UndoOptions& options,
                            UndoPlan& plan) {
  if (rows.empty()) return {};
  WS_LET(AttachmentTree base, session.attachments().base());
  WS_LET(const SafeWriter writer, SafeWriter::open(session.root));
  std::set<RelativePath> made;
  for (const OperationRow& row : rows) {
    if (row.after) made.insert(row.after->path);
  }
  FileUndo undo(session, undone, scan, writer, std::move(base), std::move(made));
  for (const OperationRow& row : rows) {
    if (options.only && !options.only(row.path()) && !(row.before && options.only(row.before->path))) {
      plan.is_partial = plan.is_partial || row.changes();
      continue;
    }
    if (!row.changes()) {
      // It was missing here alone: without it here the next run would remove it on the service.
      if (row.origins == ChangeOrigins(ChangeOrigin::received))
        plan.left.push_back({.path = row.path(), .why = "it had gone missing here, and came back"});
      continue;
    }
    WS_TRY(undo.add(row, plan));
  }
  return {};
}

Result<std::vector<LeftAlone>> undo_attachments(Session& session, const std::vector<FileStep>& steps) {
  if (steps.empty()) return std::vector<LeftAlone>();
  AttachmentStore store = session.attachments();
  WS_LET(SafeWriter writer, SafeWriter::open(session.root, attachments_folder));
  return AttachmentUndo(session, store, writer, steps).run();
}

Result<void> decide_attachment(Session& session, const Clock& clock, const RelativePath& path, Keep keep) {
  AttachmentStore store = session.attachments();
  WS_LET(const auto open, store.conflicts());
  const auto found = open.find(path);
  if (found == open.end()) {
    return fail(Failure::Kind::not_found, fmt::format("there is no open conflict at {}", path.text()));
  }
  WS_LET(SafeWriter writer, SafeWriter::open(session.root, attachments_folder));
  return AttachmentDecision(session, clock, store, writer).decide(path, found->second, keep);
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
