#include "sync-engine/attachments/undo_files.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "sync-engine/attachments/local_files.hpp"
#include "sync-engine/attachments/publish_list.hpp"
#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/session/kept_bytes.hpp"
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
        if (!row.changes() || !row.is_about_file()) continue;
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
           AttachmentTree base,
           AttachmentTree there)
      : session_(session),
        undone_(undone),
        survey_(survey),
        asks_(asks),
        writer_(writer),
        later_(std::move(later)),
        base_(std::move(base)),
        there_(std::move(there)),
        files_(session) {}

  /// `side`: where it is taken back.
  Result<void> add(const OperationRow& row, StepSide side, UndoPlan& plan) {
    const RelativePath& path = row.path();
    if (session_.config.left_out.takes(path.text())) {
      plan.left.push_back({.path = path, .why = std::string(left_out_now)});
      return {};
    }
    const bool is_moved = row.before && row.after && row.before->path != row.after->path;
    const bool keeps_bytes = is_moved && row.before->hash == row.after->hash;
    FileStep step{.seen = hash_of_version(row.after), .result = hash_of_version(row.before), .side = side};
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
      const std::optional<StepSide> of_first = side_of_first(row);
      if (!of_first) {
        leave("both sides had it before this run");
        plan.left.back().is_final = true;
        return {};
      }
      if (*of_first == StepSide::service && !base_.contains(path))
        return {};  // an earlier undo took it off the service
      if (*of_first == StepSide::here && !there_.contains(path)) {
        leave("the service does not have it any more");
        return {};
      }
      step.side = *of_first;
    }
    WS_LET(const std::string_view hidden,
           is_here_alone(step.side) ? Result<std::string_view>("") : why_not_sent(row, step));
    if (!hidden.empty()) {
      leave(hidden);
    } else if (now != step.seen) {
      leave(changed_since);
    } else {
      steps_.push_back(std::move(step));
    }
    return {};
  }

  /// Of the file at the place now; empty: there is none.
  std::optional<Sha256> hash_as_spelled(const RelativePath& place) {
    return hash_now(files_, spelled_here(session_, store_, place).value_or(place));
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
      if (!arrives || !places.is_taken(*step.to, step.is_about_bytes() ? leaving.all : leaving.without_bytes))
        return false;
      plan.left.push_back({.path = *step.to, .why = std::string(place_is_taken)});
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
      if (is_here_alone(step.side)) return false;
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
    if (arrives && there.twins.contains(step.to->twin_key())) return place_is_taken;
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
        if (!step.is_about_bytes()) leaving.without_bytes.insert(*step.from);
      }
    }
    return leaving;
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
  AttachmentTree there_;  ///< as the service was last heard to list them
  std::vector<FileStep> steps_;
  LocalFiles files_;
};

bool is_left(const RelativePath& path, const std::vector<LeftAlone>& left) {
  return std::ranges::find(left, path, &LeftAlone::path) != left.end();
}

/// Whether the step gives the file here back what it had before a decision.
bool is_back_to(const RelativePath& path, const FileStep& step) {
  return step.side == StepSide::in_the_end && step.document.empty() && step.seen_blob.empty() && step.to == path;
}

using OpenFiles = std::map<RelativePath, OpenAttachment>;

/// The conflict that was decided by the row: it goes by the name here, also where the file got the one of the service.
OpenFiles::const_iterator find_decided(const OpenFiles& decided, const OperationRow& row) {
  const auto found = decided.find(row.path());
  if (found != decided.end() || !row.before) return found;
  const auto renamed = decided.find(row.before->path);
  return renamed != decided.end() && renamed->second.there == row.path() ? renamed : decided.end();
}

/// Whether the file here got what the service had.
bool is_for_theirs(const OperationRow& row, const OpenAttachment& decided) {
  return row.changes() && hash_of_version(row.after) == hash_of(decided.remote);
}

}  // namespace

Result<std::vector<Action>> plan_file_undo(Session& session,
                                           const Operation& undone,
                                           const std::vector<OperationRow>& rows,
                                           const UndoOptions& options,
                                           AsksService asks,
                                           PlannedUndo& planned) {
  AttachmentStore store = session.attachments();
  WS_LET(const auto decided, store.decided_conflicts(undone.id));
  if (rows.empty() && decided.empty()) return std::vector<Action>();
  UndoPlan& plan = planned.undo;
  const auto is_wanted = [&](const RelativePath& path) { return !options.only || options.only(path); };
  WS_LET(AttachmentTree base, store.base());
  WS_LET(const SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(LaterPlaces later, LaterPlaces::load(session.state.operations(), undone.id));
  WS_LET(const KnownList list, load_list(store));
  FileUndo undo(session, undone, planned.survey, asks, writer, std::move(later), std::move(base), list.rows());
  for (const auto& [path, conflict] : decided) {
    if (is_wanted(path)) {
      planned.opened_again.emplace(path, conflict);
    } else {
      plan.is_partial = true;
    }
  }
  for (const OperationRow& row : rows) {
    if (!is_wanted(row.path()) && !(row.before && is_wanted(row.before->path))) {
      plan.is_partial = plan.is_partial || row.changes();
      continue;
    }
    const auto conflict = find_decided(decided, row);
    if (conflict != decided.end()) {
      if (is_for_theirs(row, conflict->second)) WS_TRY(undo.add(row, StepSide::in_the_end, plan));
      continue;
    }
    if (!row.changes()) {
      // It was missing here alone: without it here the next run would remove it on the service.
      if (row.origins == ChangeOrigins(ChangeOrigin::received))
        plan.left.push_back({.path = row.path(), .why = "it had gone missing here, and came back", .is_final = true});
      continue;
    }
    WS_TRY(undo.add(row, StepSide::both, plan));
  }
  WS_LET(std::vector<Action> actions, undo.end(plan));
  std::erase_if(planned.opened_again, [&](const auto& conflict) {
    const auto& [path, open] = conflict;
    const bool is_taken_back =
        std::ranges::any_of(plan.steps, [&](const FileStep& step) { return is_back_to(conflict.first, step); });
    const bool is_changed = !is_taken_back && undo.hash_as_spelled(path) != hash_of(open.local);
    if (is_changed && !is_left(path, plan.left)) plan.left.push_back({.path = path, .why = std::string(changed_since)});
    return is_changed;
  });
  return actions;
}

Result<std::map<RelativePath, OpenAttachment>> give_theirs_back(Session& session,
                                                                const Operation& undo,
                                                                std::vector<LeftAlone>& left) {
  AttachmentStore store = session.attachments();
  WS_LET(auto conflicts, store.decided_conflicts(undo.id));
  if (conflicts.empty()) return conflicts;
  WS_LET(KnownList list, load_list(store));
  WS_LET(const AttachmentTree agreed, store.base());
  const AttachmentTree there = list.rows();
  RowChanges changes;
  for (const auto& [path, open] : conflicts) {
    if (open.there) continue;  // the service has its name
    if (!is_left(path, left) && hash_of(row_at(there, path)) != hash_of(open.remote))
      changes.emplace(path, RowChange{.seen = row_at(agreed, path), .now = open.remote});
  }
  std::set<RelativePath> done;
  if (!changes.empty()) {
    WS_LET(done, publish_list(session, store, list, changes));
  }
  for (const auto& [path, change] : changes) {
    if (!done.contains(path)) left.push_back({.path = path, .why = "changed on the service since"});
  }
  // A later undo may open these.
  for (const auto& [path, open] : conflicts) {
    if (is_left(path, left)) WS_TRY(store.set_decided(path, undo.id, undo.undoes));
  }
  std::erase_if(conflicts, [&](const auto& each) { return is_left(each.first, left); });
  return conflicts;
}

Result<void> open_files_again(Session& session,
                              std::uint64_t undo,
                              const std::map<RelativePath, OpenAttachment>& conflicts,
                              const std::vector<FileStep>& steps,
                              std::vector<FileStep>& back) {
  AttachmentStore store = session.attachments();
  WS_LET(const SafeWriter writer, SafeWriter::open(session.root));
  WS_LET(const AttachmentTree agreed, store.base());
  for (const auto& [path, decided] : conflicts) {
    OpenAttachment open = decided;
    const auto beside = open.beside ? writer.hash(*open.beside).value_or(std::nullopt) : std::nullopt;
    if (open.beside) WS_TRY(store.hold_again(*open.beside));
    if (!open.remote || beside != open.remote->hash) open.beside.reset();
    if (open.there) {
      const auto file = find_file_id(session.root, *open.there);
      WS_TRY(store.forget_base(*open.there));
      if (open.base) WS_TRY(store.put_base(*open.from, *open.base));
      if (file) WS_TRY(store.put_file(*open.from, *file));
    }
    OperationRow row{.origins = ChangeOrigin::sent};
    if (const auto known = row_at(agreed, path)) row.before = Version{.path = path, .hash = known->hash};
    if (open.remote) row.after = Version{.path = path, .hash = open.remote->hash};
    if (row.changes() && !open.there) WS_TRY(session.state.operations().record(row));
    WS_TRY(open.base && !open.there ? store.put_base(path, *open.base) : store.forget_base(path));
    WS_TRY(store.forget_decided(path, undo));
    WS_TRY(store.put_conflict(path, open));
    const auto step =
        std::ranges::find_if(steps, [&path = path](const FileStep& each) { return is_back_to(path, each); });
    if (step == steps.end()) continue;
    back.push_back(*step);
    back.back().side = StepSide::both;
  }
  return {};
}

}  // namespace ws::sync
