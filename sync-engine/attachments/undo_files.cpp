#include "sync-engine/attachments/undo_files.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "sync-engine/attachments/blob_folder.hpp"
#include "sync-engine/attachments/bytes_at_hand.hpp"
#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/attachments/transfers.hpp"
#include "sync-engine/changes/carry_out.hpp"
#include "sync-engine/tree/hash.hpp"
#include "sync-engine/undo/taken_places.hpp"

namespace ws::sync {
namespace {

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
  FileUndo(Session& session,
           const Operation& undone,
           const std::vector<OperationRow>& rows,
           const Scan& scan,
           const SafeWriter& writer,
           AttachmentTree base)
      : session_(session), undone_(undone), scan_(scan), writer_(writer), base_(std::move(base)), files_(session) {
    for (const OperationRow& row : rows) {
      if (row.after) made_.insert(row.after->path);
    }
  }

  Result<void> add(const OperationRow& row, UndoPlan& plan) {
    const RelativePath& path = row.path();
    const bool is_moved = row.before && row.after && row.before->path != row.after->path;
    const bool keeps_bytes = is_moved && row.before->hash == row.after->hash;
    FileStep step{.seen = hash_of_version(row.after), .result = hash_of_version(row.before)};
    if (row.after) step.from = row.after->path;
    if (row.before) step.to = row.before->path;
    const auto hash_at = [&](const RelativePath& place) {
      return keeps_bytes ? writer_.hash(place).value_or(std::nullopt) : hash_as_spelled(place);
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
        plan.left.back().is_final = true;
        return {};
      }
      if (*side == StepSide::service && !base_.contains(path)) return {};  // an earlier undo took it off the service
      step.side = *side;
    }
    WS_LET(const std::string_view hidden,
           step.side == StepSide::here ? Result<std::string_view>("") : why_not_sent(row, step));
    if (!hidden.empty()) {
      leave(hidden);
    } else if (now != step.seen) {
      leave(changed_since);
    } else {
      steps_.push_back(std::move(step));
    }
    return {};
  }

  /// Adds the steps to those of the notes. A file cannot come to a place that is taken.
  void end(UndoPlan& plan) {
    TakenPlaces places(session_.root);
    const auto is_blocked = [&](const FileStep& step, const Leaving& leaving) {
      const bool arrives = step.to && step.to != step.from;
      if (!arrives || !places.is_taken(*step.to, is_about_bytes(step) ? leaving.all : leaving.without_bytes))
        return false;
      plan.left.push_back({.path = *step.to, .why = "another file is in its place"});
      return true;
    };
    while (true) {
      const Leaving leaving = find_leaving(plan.steps);
      if (std::erase_if(steps_, [&](const FileStep& step) { return is_blocked(step, leaving); }) == 0) break;
    }
    std::ranges::move(steps_, std::back_inserter(plan.steps));
  }

 private:
  /// The files that leave their places here: notes and renamed files before bytes come and go.
  struct Leaving {
    std::set<RelativePath> all = {};
    std::set<RelativePath> without_bytes = {};
  };

  Leaving find_leaving(const std::vector<FileStep>& of_notes) const {
    Leaving leaving;
    for (const std::vector<FileStep>* const steps : {&of_notes, &steps_}) {
      for (const FileStep& step : *steps) {
        if (!step.from || step.to == step.from || step.side == StepSide::service) continue;
        leaving.all.insert(*step.from);
        if (!is_about_bytes(step)) leaving.without_bytes.insert(*step.from);
      }
    }
    return leaving;
  }

  std::optional<Sha256> hash_as_spelled(const RelativePath& place) {
    return hash_now(files_, spelled_here(session_, store_, place).value_or(place));
  }

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
    if (session_.excludes(place.text())) return "`attachments_exclude` keeps it from being synced";
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
  AttachmentStore store_{session_.attachments()};
  const Operation& undone_;
  const Scan& scan_;
  const SafeWriter& writer_;
  AttachmentTree base_;
  std::set<RelativePath> made_;  ///< the places that the operation gave to files
  std::vector<FileStep> steps_;
  LocalFiles files_;
};

/// The files of an undo. What stands elsewhere by now, or cannot be brought, is left.
class AttachmentUndo {
 public:
  AttachmentUndo(
      Session& session, AttachmentStore& store, SafeWriter& writer, const std::vector<FileStep>& steps, bool was_begun)
      : session_(session),
        store_(store),
        writer_(writer),
        steps_(steps),
        was_begun_(was_begun),
        staged_(steps.size()),
        replaced_(steps.size()) {}

  Result<std::vector<LeftAlone>> run() {
    for (FileStep step : steps_) {
      for (std::optional<RelativePath>* const place : {&step.from, &step.to}) {
        if (!*place) continue;
        WS_LET(*place, spelled_here(session_, store_, **place));
      }
      on_disk_.push_back(std::move(step));
    }
    const BegunSteps begun(writer_, on_disk_);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      WS_TRY(session_.check_cancelled());
      const FileStep& step = on_disk_[i];
      if (step.to && begun.is_written(step)) continue;
      if (auto ready = prepare(i); !ready) staged_[i] = fail(std::move(ready).error());
    }
    WS_TRY(writer_.flush_texts());
    WS_TRY(carry_out(writer_, on_disk_, staged_, true, [this](std::size_t step, Result<void> outcome) {
      return end(step, std::move(outcome));
    }));
    return std::move(left_);
  }

 private:
  /// Keeps what is replaced or removed, brings what takes its place, and says first whose it is.
  Result<void> prepare(std::size_t place) {
    const FileStep& step = steps_[place];
    const FileStep& on_disk = on_disk_[place];
    const bool writes = step.to && step.seen != step.result;
    if (step.from && (writes || !step.to)) WS_TRY(keep(on_disk));
    if (!step.to) return {};
    if (step.from) replaced_[place] = find_file_id(session_.root, *on_disk.from);
    if (writes) {
      WS_LET(const Attachment file, known_file(*step.to, *step.result));
      WS_TRY(bring_bytes(session_, store_, writer_, file));
      staged_[place] = writer_.stage_copy(file.hash.hex(), file.hash);
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

  Result<void> end(std::size_t place, Result<void> outcome) {
    const FileStep& step = steps_[place];
    if (!outcome) return leave_or_end(step, std::move(outcome));
    if (!step.to) return {};
    const auto id = find_file_id(session_.root, *on_disk_[place].to);
    if (id) WS_TRY(store_.put_written(*step.to, replaced_[place], *id));
    WS_LET(const bool is_held, are_unsent(store_, *step.to, *step.result));
    return is_held ? Result<void>() : store_.put_wanted(*step.to);
  }

  /// What another call may get is tried by it once more; then one file does not stop whatever comes.
  bool is_given_up(const Failure& why) const {
    const bool may_pass = why.kind == Failure::Kind::service || why.kind == Failure::Kind::unreachable;
    if (may_pass) return was_begun_ && !ends_transfers(why);
    return is_about_one(why);
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
      default: return is_given_up(outcome.error()) ? leave("its bytes could not be fetched") : outcome;
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
  std::vector<FileStep> on_disk_ = {};  ///< the same, with the names as the disk spells them
  bool was_begun_;
  StagedTexts staged_;
  std::vector<std::optional<FileId>> replaced_;  ///< which file each step wrote anew
  std::vector<LeftAlone> left_;
};

}  // namespace

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

Result<void> plan_file_undo(Session& session,
                            const Operation& undone,
                            const Scan& scan,
                            const std::vector<OperationRow>& rows,
                            const UndoOptions& options,
                            UndoPlan& plan) {
  if (rows.empty()) return {};
  WS_LET(AttachmentTree base, session.attachments().base());
  WS_LET(const SafeWriter writer, SafeWriter::open(session.root));
  FileUndo undo(session, undone, rows, scan, writer, std::move(base));
  for (const OperationRow& row : rows) {
    if (options.only && !options.only(row.path()) && !(row.before && options.only(row.before->path))) {
      plan.is_partial = plan.is_partial || row.changes();
      continue;
    }
    if (!row.changes()) {
      // It was missing here alone: without it here the next run would remove it on the service.
      if (row.origins == ChangeOrigins(ChangeOrigin::received))
        plan.left.push_back({.path = row.path(), .why = "it had gone missing here, and came back", .is_final = true});
      continue;
    }
    WS_TRY(undo.add(row, plan));
  }
  undo.end(plan);
  return {};
}

Result<void> check_bytes_at_hand(const Session& session, const std::vector<FileStep>& steps) {
  if (session.assets() != nullptr || std::ranges::none_of(steps, is_about_bytes)) return {};
  WS_LET(const SafeWriter kept, SafeWriter::open(session.root, attachments_folder));
  for (const FileStep& step : steps) {
    const bool comes = is_about_bytes(step) && step.result && step.side != StepSide::service;
    if (!comes || kept.has(step.result->hex(), *step.result)) continue;
    return fail(bytes_need_service());
  }
  return {};
}

Result<std::vector<LeftAlone>> undo_attachments(Session& session, const std::vector<FileStep>& steps, bool was_begun) {
  if (steps.empty()) return std::vector<LeftAlone>();
  AttachmentStore store = session.attachments();
  WS_LET(SafeWriter writer, SafeWriter::open(session.root, attachments_folder));
  return AttachmentUndo(session, store, writer, steps, was_begun).run();
}

}  // namespace ws::sync
