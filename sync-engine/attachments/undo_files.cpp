#include "sync-engine/attachments/undo_files.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "sync-engine/attachments/blob_folder.hpp"
#include "sync-engine/attachments/bytes_at_hand.hpp"
#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/attachments/survey_attachments.hpp"
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

/// Whether both sides have what the row made of a file, which is at `place` now.
bool is_agreed(const AttachmentTree& base, const OperationRow& row, const RelativePath& place) {
  if (!row.after) return !base.contains(row.before->path);
  const auto known = base.find(place);
  if (known == base.end()) return false;
  const bool is_moved = row.before && row.before->path != row.after->path;
  return is_moved || known->second.hash == row.after->hash;
}

/// Where files lie after all that later operations did with them.
class LaterPlaces {
 public:
  static Result<LaterPlaces> load(Operations operations, std::uint64_t after) {
    LaterPlaces later;
    WS_LET(std::vector<Operation> all, operations.list());
    std::ranges::reverse(all);
    for (const Operation& each : all) {
      if (each.id <= after) continue;
      WS_LET(const std::vector<OperationRow> rows, operations.rows(each.id));
      Changes changes;
      for (const OperationRow& row : rows) {
        if (!row.changes() || !is_about_file(row)) continue;
        if (row.before) {
          const auto [known, is_new] = changes.of.emplace(row.before->path, row);
          const bool was_renamed = !known->second.after || known->second.after->path != known->first;
          if (!is_new && !was_renamed) known->second = row;
        } else {
          changes.made.emplace(row.after->path, row.after->hash);
        }
      }
      if (!changes.of.empty() || !changes.made.empty()) later.operations_.push_back(std::move(changes));
    }
    return later;
  }

  /// Empty: it went. One that came back as it was is the same file.
  std::optional<RelativePath> place_of(RelativePath path) const {
    std::optional<Sha256> went;
    for (const Changes& each : operations_) {
      if (went) {
        const auto back = each.made.find(path);
        if (back != each.made.end() && back->second == *went) went.reset();
        continue;
      }
      const auto changed = each.of.find(path);
      if (changed == each.of.end()) continue;
      if (changed->second.after) {
        path = changed->second.after->path;
      } else {
        went = changed->second.before->hash;
      }
    }
    return went ? std::nullopt : std::optional(std::move(path));
  }

 private:
  struct Changes {
    std::map<RelativePath, OperationRow> of = {};  ///< by where the file was
    std::map<RelativePath, Sha256> made = {};
  };
  std::vector<Changes> operations_;
};

/// Plans what becomes of the files of an operation.
class FileUndo {
 public:
  FileUndo(Session& session,
           const Operation& undone,
           const Survey& survey,
           AsksService asks,
           const SafeWriter& writer,
           LaterPlaces later,
           AttachmentTree base)
      : session_(session),
        undone_(undone),
        survey_(survey),
        asks_(asks),
        writer_(writer),
        later_(std::move(later)),
        base_(std::move(base)),
        files_(session) {}

  Result<void> add(const OperationRow& row, UndoPlan& plan) {
    const RelativePath& path = row.path();
    const bool is_moved = row.before && row.after && row.before->path != row.after->path;
    const bool keeps_bytes = is_moved && row.before->hash == row.after->hash;
    FileStep step{.seen = hash_of_version(row.after), .result = hash_of_version(row.before)};
    if (row.after) step.from = row.after->path;
    if (row.before) step.to = row.before->path;
    const std::optional<RelativePath> place = row.after ? later_.place_of(path) : std::nullopt;
    const bool is_elsewhere = place && *place != path;
    if (place && step.to == path) step.from = step.to = place;  // it keeps the name that it was given since
    const auto hash_at = [&](const RelativePath& at) {
      return keeps_bytes ? writer_.hash(at).value_or(std::nullopt) : hash_as_spelled(at);
    };
    const auto now = hash_at(row.after ? *step.from : path);
    if (keeps_bytes && place == path && now)
      step.seen = step.result = now;  // what was written in it goes with its name
    const bool is_unsent = !row.after && now && now == step.result && !base_.contains(path);
    if (is_unsent) {
      step.from = step.to;  // to be sent as it is
      step.seen = step.result;
    }
    const auto leave = [&](std::string_view why) {
      plan.left.push_back({.path = step.to ? *step.to : *step.from, .why = std::string(why)});
    };
    if (is_elsewhere && (!step.to || (is_moved && place != step.to))) {
      if (base_.contains(*place)) leave(step.to ? "renamed since: it keeps that name" : "renamed since");
      return {};
    }
    const bool is_back = is_moved ? !now && (place == step.to || hash_at(*step.to) == step.result) : now == step.result;
    if (!is_unsent && is_back) {
      // Taken back already; but that it is gone here tells nothing of the service.
      if (!step.result && base_.contains(path)) leave("deleted here since");
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

  /// Adds the steps to those of the notes, without those that collide, and answers what the run does about the files.
  Result<std::vector<Action>> end(UndoPlan& plan) {
    std::vector<Action> actions;
    std::size_t before = steps_.size() + 1;
    while (steps_.size() < before) {
      before = steps_.size();
      leave_blocked(plan);
      WS_LET(actions, leave_colliding(plan));
    }
    std::ranges::move(steps_, std::back_inserter(plan.steps));
    return actions;
  }

 private:
  /// The files that leave their places here: notes and renamed files before bytes come and go.
  struct Leaving {
    std::set<RelativePath> all = {};
    std::set<RelativePath> without_bytes = {};
  };

  /// A file cannot come to a place that is taken.
  void leave_blocked(UndoPlan& plan) {
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
      if (std::erase_if(steps_, [&](const FileStep& step) { return is_blocked(step, leaving); }) == 0) return;
    }
  }

  /// Leaves what the run that follows could not bring together with what the service has.
  Result<std::vector<Action>> leave_colliding(UndoPlan& plan) {
    std::vector<FileStep> sent;
    for (const FileStep& step : steps_to_send(steps_)) {
      WS_LET(const bool stays_here, is_unsent(session_, step));
      if (!stays_here) sent.push_back(step);
    }
    if (sent.empty()) return std::vector<Action>();
    const std::set<RelativePath> paths = paths_of(sent);
    const RunOptions run{.allow_deletes = true,
                         .dry_run = true,
                         .only = [&paths](const RelativePath& path) { return paths.contains(path); },
                         .absent = files_that_stay(sent)};
    WS_LET(const AttachmentSurvey without, survey_attachments(session_, survey_, run));
    WS_LET(AttachmentSurvey with, survey_attachments(session_, survey_, run, sent));
    const FoundThere there = find_there(without.plan, with.plan);
    std::erase_if(steps_, [&](const FileStep& step) {
      if (step.side == StepSide::here) return false;
      const std::string_view why = why_collides(step, there);
      if (!why.empty()) plan.left.push_back({.path = step.to ? *step.to : *step.from, .why = std::string(why)});
      return !why.empty();
    });
    return asks_ == AsksService::yes ? std::move(with.plan.actions) : std::vector<Action>();
  }

  /// What both sides made of files, by the places that they had.
  struct FoundThere {
    std::set<RelativePath> gone = {};
    std::set<RelativePath> renamed = {};
    std::set<RelativePath> edited = {};
    std::set<RelativePath> colliding = {};  ///< with the steps done
    std::set<std::string> twins = {};       ///< likewise, by their keys: what has no room beside another
  };

  static FoundThere find_there(const AttachmentPlan& without, const AttachmentPlan& with) {
    FoundThere found;
    for (const Action& action : without.actions) {
      if (action.kind == ActionKind::pull_delete) found.gone.insert(action.path);
      if (action.kind == ActionKind::pull_move) found.renamed.insert(*action.previous_path);
      if (action.kind == ActionKind::pull_update) found.edited.insert(action.path);
    }
    for (const AttachmentCollision& each : with.collisions) {
      found.colliding.insert(each.path);
      if (each.from) found.colliding.insert(*each.from);
    }
    for (const Skipped& each : with.skipped) {
      const auto path = RelativePath::parse(each.path);
      if (path && each.reason == SkipReason::twin) found.twins.insert(path->twin_key());
    }
    return found;
  }

  std::string_view why_collides(const FileStep& step, const FoundThere& there) const {
    const bool arrives = step.to && step.to != step.from;
    if (arrives && there.twins.contains(step.to->twin_key())) return "another file is in its place";
    if (asks_ == AsksService::no) return {};
    if (step.from && there.gone.contains(*step.from))
      return step.to ? "deleted on the service since" : std::string_view();
    const bool is_renamed = step.from && there.renamed.contains(*step.from);
    if (is_renamed && arrives) return "renamed since: it keeps that name";
    if (!step.to && (is_renamed || there.edited.contains(*step.from))) return "changed on the service since";
    const bool collides =
        (step.from && there.colliding.contains(*step.from)) || (step.to && there.colliding.contains(*step.to));
    return collides ? "changed since, and the two changes collide" : std::string_view();
  }

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

  /// Whether it brings back what was never sent, which is not sent by this either.
  static Result<bool> is_unsent(Session& session, const FileStep& step) {
    if (!step.to || !step.result) return false;
    AttachmentStore store = session.attachments();
    return are_unsent(store, *step.to, *step.result);
  }

  /// Why the service would not get what it has to; empty: it would, or need not.
  Result<std::string_view> why_not_sent(const OperationRow& row, const FileStep& step) {
    const RelativePath& place = step.to ? *step.to : *step.from;
    const Scan& scan = survey_.scan;
    const bool is_ignored = scan.is_ignored(place);
    if (!is_agreed(base_, row, step.from.value_or(place))) {
      const bool arrives = step.to && step.to != step.from && !(step.from && scan.is_ignored(*step.from));
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
  const Survey& survey_;
  AsksService asks_;
  const SafeWriter& writer_;
  LaterPlaces later_;
  AttachmentTree base_;
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

Result<std::vector<Action>> plan_file_undo(Session& session,
                                           const Operation& undone,
                                           const std::vector<OperationRow>& rows,
                                           const UndoOptions& options,
                                           AsksService asks,
                                           PlannedUndo& planned) {
  if (rows.empty()) return std::vector<Action>();
  UndoPlan& plan = planned.undo;
  WS_LET(AttachmentTree base, session.attachments().base());
  WS_LET(const SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(LaterPlaces later, LaterPlaces::load(session.state.operations(), undone.id));
  FileUndo undo(session, undone, planned.survey, asks, writer, std::move(later), std::move(base));
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
  return undo.end(plan);
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
