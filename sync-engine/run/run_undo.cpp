#include "sync-engine/run/run_undo.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "sync-engine/attachments/choose_attachments.hpp"
#include "sync-engine/attachments/transfers.hpp"
#include "sync-engine/attachments/undo_files.hpp"
#include "sync-engine/changes/edit_files.hpp"
#include "sync-engine/publish/push_ahead.hpp"
#include "sync-engine/reconcile/guard.hpp"
#include "sync-engine/run/leave.hpp"
#include "sync-engine/run/open_again.hpp"
#include "sync-engine/run/report_rows.hpp"
#include "sync-engine/run/round.hpp"
#include "sync-engine/survey/cached_walk.hpp"

namespace ws::sync {
namespace {

/// Of the notes and files of an undo together, as a run weighs them.
Result<std::optional<Guard>> guard_of_undo(Session& session, const Report& report) {
  Guard guard;
  WS_LET(guard.tracked, session.state.base_count());
  if (session.knows_attachments()) {
    AttachmentStore store = session.attachments();
    WS_LET(const AttachmentTree files, store.base());
    WS_LET(const std::set<RelativePath> out_of_sight, store.left_out());
    guard.files_tracked = files.size() - out_of_sight.size();
  }
  for (const Row& row : report.rows) count_loss(row.action, guard);
  return needs_confirmation(guard) ? std::optional(guard) : std::optional<Guard>();
}

void add_places(const Report& report, std::set<RelativePath>& places) {
  for (const Row& row : report.rows) {
    if (row.action.kind == ActionKind::conflict) continue;  // no change
    places.insert(row.action.path);
    if (row.action.previous_path) places.insert(*row.action.previous_path);
  }
}

/// The documents that this undo has changed or skipped, also in an interrupted earlier call.
Result<std::set<RelativePath>> told_paths(Session& session, const UndoReport& result) {
  std::set<RelativePath> told;
  for (const LeftAlone& each : result.left) told.insert(each.path);
  add_places(result.report, told);
  Operations operations = session.state.operations();
  WS_LET(const std::vector<OperationRow> recorded, operations.rows(*operations.current()));
  for (const OperationRow& row : recorded) {
    if (row.before) told.insert(row.before->path);
    if (row.after) told.insert(row.after->path);
  }
  return told;
}

ActionKind kind_of(const FileStep& step) {
  if (!step.to) return ActionKind::pull_delete;
  if (!step.from) return ActionKind::pull_create;
  return step.from == step.to ? ActionKind::pull_update : ActionKind::pull_move;
}

/// Whether the run had a row about each of these files.
bool tells_of_all(const Report& report, const std::vector<FileStep>& steps) {
  std::unordered_set<std::string_view> told;
  for (const Row& row : report.rows) {
    if (row.action.kind == ActionKind::conflict) continue;
    told.insert(row.action.path.text());
    if (row.action.previous_path) told.insert(row.action.previous_path->text());
  }
  return std::ranges::all_of(
      steps, [&](const FileStep& step) { return told.contains(step.to ? step.to->text() : step.from->text()); });
}

/// What a step does here, where no run has a row about it.
Row row_of(const Session& session, const FileStep& step, Row::State state) {
  const RelativePath& path = step.to ? *step.to : *step.from;
  Row row{.action = {.kind = kind_of(step), .path = path, .reason = reason_of(step.side), .document = step.document},
          .state = state};
  if (row.action.kind == ActionKind::pull_move) row.action.previous_path = step.from;
  row.action.attachment = step.document.empty() && !session.kinds.takes(path.text());
  return row;
}

/// Those that no run has a row about: the two sides agree again once they are done.
std::vector<FileStep> steps_here_alone(const std::vector<FileStep>& steps, const std::set<RelativePath>& told) {
  std::vector<FileStep> alone;
  std::ranges::copy_if(steps, std::back_inserter(alone), [&](const FileStep& step) {
    const bool is_known = !step.from || !step.seen_blob.empty() || step.seen == step.result;
    const bool is_told = told.contains(step.to ? *step.to : *step.from) || (step.from && told.contains(*step.from));
    return !is_told && (step.is_about_bytes() || is_known);
  });
  return alone;
}

/// What was taken back before any run had told the service of it.
Result<void> record_steps_here(Session& session, const std::vector<FileStep>& steps, UndoReport& result) {
  WS_LET(const std::set<RelativePath> told, told_paths(session, result));
  for (const FileStep& step : steps_here_alone(steps, told)) {
    Row row = row_of(session, step, Row::State::done);
    if (!row.action.attachment) {
      WS_LET(const std::optional<KnownDocument> known, session.state.find_base(row.action.path));
      if (known) row.action.document = known->document;
    }
    OperationRow recorded = ws::sync::row_of(step, ChangeOrigin::restored);
    recorded.document = row.action.document;
    WS_TRY(session.state.operations().record(recorded));
    result.report.rows.push_back(std::move(row));
  }
  return {};
}

/// The rows of an undo that is not begun: of the run that sends it, and of what its steps do here alone.
void foresee(const Session& session, const UndoPlan& plan, const std::vector<Action>& of_files, UndoReport& result) {
  const std::set<RelativePath> stay = files_that_stay(plan.steps);
  for (Action action : of_files) {
    if (is_push(action.kind))
      action.reason = reason_of(stay.contains(action.path) ? StepSide::service : StepSide::both);
    result.report.rows.push_back({.action = std::move(action)});
  }
  std::set<RelativePath> told;
  for (const LeftAlone& each : plan.left) told.insert(each.path);
  add_places(result.report, told);
  for (const FileStep& step : steps_here_alone(plan.steps, told))
    result.report.rows.push_back(row_of(session, step, Row::State::planned));
}

/// Whether no run has sent anything of an operation: a rename, also of a decision, or a text that was brought back.
/// That the service has the same by itself is no sending.
Result<bool> was_never_sent(Session& session, const Operation& operation, const std::vector<OperationRow>& rows) {
  std::unordered_set<std::string> sent;
  WS_LET(const std::vector<OperationRow> rows_sent, session.state.operations().rows_sent_after(operation.id));
  for (const OperationRow& row : rows_sent) {
    if (!row.document.empty()) sent.insert(row.document.text());
    if (row.before) sent.insert("/" + row.before->path.string());
    if (row.after) sent.insert("/" + row.after->path.string());
  }
  ChangeOrigins of_here = ChangeOrigin::restored;
  of_here.add(ChangeOrigin::decided);
  bool any = false;
  for (const OperationRow& row : rows) {
    if (!row.changes()) continue;
    any = true;
    ChangeOrigins origins = row.origins;
    origins.add(ChangeOrigin::decided);
    if (!row.origins.has(ChangeOrigin::restored) || !(origins == of_here) || sent.contains(row.document.text()) ||
        sent.contains("/" + row.path().string()))
      return false;
  }
  return any;
}

/// What a file that is renamed back was to the person here.
Result<void> carry_marks_back(Session& session, const std::vector<FileStep>& steps) {
  links::Renames renamed;
  for (const FileStep& step : steps) {
    if (step.from && step.to && step.from != step.to) renamed.emplace(step.from->string(), step.to->string());
  }
  return carry_marks(session, renamed);
}

/// A step's file may have changed on the service too, and the run received that. It is no part of what the undo did: a
/// redo takes back the step alone, and merges with what came.
Result<void> record_without_received(Session& session,
                                     const std::vector<FileStep>& steps,
                                     const std::vector<LeftAlone>& left) {
  Operations operations = session.state.operations();
  WS_LET(const std::vector<OperationRow> rows, operations.rows(*operations.current()));
  std::unordered_map<std::string_view, const OperationRow*> changed;
  for (const OperationRow& row : rows) {
    if (row.before && row.after) changed.emplace(row.before->path.text(), &row);
  }
  for (const LeftAlone& each : left) changed.erase(each.path.text());
  for (const FileStep& step : steps) {
    if (!step.from || !step.to || step.is_about_bytes()) continue;
    const auto found = changed.find(step.from->text());
    if (found == changed.end()) continue;
    OperationRow own = *found->second;
    if (own.after->path == *step.to && own.after->hash == *step.result) continue;
    own.origins = ChangeOrigin::sent;
    const git::ObjectId same = own.before->hash == *step.result ? own.before->blob : step.seen_blob;
    own.after->path = *step.to;
    own.after->hash = *step.result;
    own.after->blob = step.result_blob.empty() ? same : step.result_blob;
    if (own.is_about_file() || !own.after->blob.empty()) WS_TRY(operations.record(own));
  }
  return {};
}

/// Stages the texts of the new files on the service while the files are written.
void push_made(Session& session,
               const std::vector<const FileStep*>& made,
               const std::function<void(std::size_t place, const std::string& text)>& take) {
  std::vector<NewText> texts;
  texts.reserve(made.size());
  for (const FileStep* step : made) {
    texts.push_back({.path = *step->to, .hash = *step->result, .blob = step->result_blob});
  }
  push_ahead(session, texts, take);
}

/// The journalled steps, on the disk: those that change a file here.
class StepsHere {
 public:
  StepsHere(Session& session, const Operation& undo, const std::vector<FileStep>& steps, bool was_begun)
      : session_(session), undo_(undo.id), steps_(steps) {
    std::erase_if(steps_, [](const FileStep& step) {
      return step.side == StepSide::service || step.side == StepSide::in_the_end;
    });
    edits_.emplace(session, steps_, was_begun);
  }

  /// `reads`: see FileEdits.
  Result<void> begin(const ReadsTexts& reads) { return edits_->begin(reads); }

  /// Files that are in place are hashed while something else is waited for.
  void hash_meanwhile() {
    edits_->then([this] { hash_ahead(session_); });
  }

  /// Waits until all is in place, and records that what is left to do is the service's.
  Result<void> end() {
    if (!outcome_) outcome_ = finish();
    return *outcome_;
  }

  const std::vector<LeftAlone>& left() const { return left_; }

 private:
  Result<void> finish() {
    WS_LET(left_, edits_->end());
    Operations operations = session_.state.operations();
    WS_LET(sqlite::Transaction transaction, session_.state.begin());
    WS_TRY(edits_->record());
    WS_TRY(forget_agreed());
    WS_TRY(operations.put_undo_left(undo_, left_));
    if (!left_.empty()) WS_TRY(operations.set_partial(undo_));
    WS_TRY(operations.set_stage(undo_, Operation::Stage::undoing_on_service));
    return transaction.commit();
  }

  /// What went here alone is as it was before the first run: on the service, from where a run brings it.
  Result<void> forget_agreed() {
    std::set<RelativePath> left;
    for (const LeftAlone& each : left_) left.insert(each.path);
    bool any = false;
    for (const FileStep& step : steps_) {
      if (step.side != StepSide::here || left.contains(*step.from)) continue;
      any = true;
      WS_TRY(step.document.empty() ? session_.attachments().forget_base(*step.from)
                                   : session_.state.forget_base(step.document));
    }
    return any ? session_.state.set_source_revision({}) : Result<void>();
  }

  Session& session_;
  std::uint64_t undo_;
  std::vector<FileStep> steps_;
  std::vector<LeftAlone> left_;
  std::optional<Result<void>> outcome_;
  std::optional<FileEdits> edits_;
};

/// The paths of those that have no file.
std::set<RelativePath> without_file(const Session& session, const std::vector<LeftAlone>& left) {
  std::set<RelativePath> paths;
  for (const LeftAlone& each : left) {
    const Descriptor there = session.root.open_beneath(each.path.text(), O_PATH | O_NOFOLLOW);
    struct stat status = {};
    if (!there || ::fstat(there.get(), &status) != 0 || !S_ISREG(status.st_mode)) paths.insert(each.path);
  }
  return paths;
}

/// Whether the run that follows is known: what was staged ahead becomes new documents, and nothing else differs.
bool makes_what_was_staged(Session& session,
                           const Survey& seen,
                           const Report& planned,
                           const std::vector<FileStep>& steps) {
  const bool is_quiet_there = seen.revision == seen.revision_before && seen.pending.empty() &&
                              seen.remote.changed.empty() && seen.remote.gone.empty() && seen.remote.absent.empty();
  // A missing file may be one of the new ones, renamed.
  const bool is_quiet_here = seen.known_conflicts.empty() && seen.plan.conflicts.empty() && seen.plan.settled.empty() &&
                             seen.local.tracked.size() == seen.base.documents.size();
  if (!session.pushed_ahead || session.knows_attachments() || !is_quiet_there || !is_quiet_here) return false;
  return std::ranges::equal(planned.rows, steps, [&](const Row& row, const FileStep& step) {
    const Action& action = row.action;
    return action.kind == ActionKind::push_create && row.state == Row::State::planned && !action.service_path &&
           !step.from && action.path == *step.to && action.result == step.result && seen.scan.rules_loaded() &&
           !why_not_synced(session, seen.scan, action.path);
  });
}

/// Carries out the journalled steps, then a run restricted to these files. Without the service a later command runs it.
/// `planned`: the survey of an undo that begins, which it lets go of; its report is in `result`.
Result<void> carry_out_undo(RunContext& context,
                            const Operation& undo,
                            const std::vector<FileStep>& steps,
                            Survey* planned,
                            UndoReport& result) {
  Session& session = context.session;
  Operations operations = session.state.operations();
  std::optional<StepsHere> here;
  std::optional<PlannedPushes> pushes;
  std::set<RelativePath> not_here;
  WS_LET(const std::vector<DecidedText> decided, operations.decided_texts(undo.undoes));
  const auto record = [&]() -> Result<void> {
    WS_LET(sqlite::Transaction transaction, session.state.begin());
    if (!tells_of_all(result.report, steps)) WS_TRY(record_steps_here(session, steps, result));
    if (!undo.is_local) WS_TRY(record_without_received(session, steps, result.left));
    sort_by_path(result.report.rows);
    WS_TRY(operations.clear_undo(undo.id));
    WS_TRY(close_operation(context));
    return transaction.commit();
  };
  const bool was_any_open = std::ranges::any_of(decided, &DecidedText::was_open);
  const auto put_back = [&](const std::vector<FileStep>& back) -> Result<void> {
    if (back.empty()) return {};
    StepsHere in_the_end(session, undo, back, false);
    WS_TRY(in_the_end.begin({}));
    WS_TRY(in_the_end.end());
    result.left.insert(result.left.end(), in_the_end.left().begin(), in_the_end.left().end());
    return {};
  };
  if (undo.stage != Operation::Stage::undoing_on_service) {
    WS_TRY(carry_marks_back(session, steps));
    here.emplace(session, undo, steps, planned == nullptr);
    if (undo.is_local) {
      WS_TRY(here->begin({}));
      WS_TRY(here->end());
      result.left.insert(result.left.end(), here->left().begin(), here->left().end());
    }
  }
  if (undo.is_local) {
    WS_LET(const SourceRevision revision, session.state.source_revision());
    result.report = {.source_id = session.binding.source_id,
                     .base_revision = revision,
                     .revision = revision,
                     .operation = undo.id,
                     .clean = result.left.empty()};
    WS_LET(const std::vector<FileStep> back, open_again(session, undo, decided, {}, steps, result.left));
    WS_TRY(put_back(back));
    if (was_any_open && session.remote != nullptr) WS_TRY(tell_of_conflicts(context, steps, result.report));
    return record();
  }
  if (here) {
    WS_TRY(here->begin([&session](const auto& made, const auto& take) { push_made(session, made, take); }));
    if (planned != nullptr && makes_what_was_staged(session, *planned, result.report, steps)) {
      // The service commits while the files are moved to their places.
      pushes.emplace(PlannedPushes{.survey = *planned, .report = std::move(result.report)});
      here->hash_meanwhile();
      pushes->await_files = [&]() -> Result<std::set<RelativePath>> {
        WS_TRY(here->end());
        session.pulls_again = session.pulls_again || !here->left().empty();
        not_here = without_file(session, here->left());
        return not_here;
      };
    } else {
      WS_TRY(here->end());
    }
  }
  if (session.remote == nullptr) return {};
  const std::vector<FileStep> sent = steps_to_send(steps);
  const std::set<RelativePath> paths = paths_of(sent);
  RunOptions run{.message = "Undo run " + std::to_string(undo.undoes),
                 .only = [&paths](const RelativePath& path) { return paths.contains(path); },
                 .leaves_links = true,
                 .absent = files_that_stay(sent)};
  run.whole = !run.absent.empty();
  for (const FileStep& step : sent) {
    if (!step.from) {
      run.made.insert(*step.to);
      continue;
    }
    WS_LET(const std::optional<KnownDocument> known, session.state.find_base(*step.from));
    if (known) run.only_too.insert(known->document);
  }
  auto ran = run_rounds(context, run, std::move(pushes));
  if (here) {
    WS_TRY(here->end());
    // What could not be written at first may have come with another round.
    const std::set<RelativePath> still = without_file(session, here->left());
    std::ranges::copy_if(here->left(), std::back_inserter(result.left), [&](const LeftAlone& each) {
      return !not_here.contains(each.path) || still.contains(each.path);
    });
  }
  WS_LET(result.report, std::move(ran));
  Report& report = result.report;
  // The confirmation covers these deletes, not an empty or a different service.
  if (report.guard && undo.may_delete && !report.guard->empty_listing && !report.guard->foreign_source) {
    run.allow_deletes = true;
    WS_LET(report, run_rounds(context, run));
  }
  if (session.knows_attachments()) WS_TRY(sync_files(context, run, report));
  for (Row& row : report.rows) {
    const bool stays = run.absent.contains(row.action.path);
    if (is_push(row.action.kind)) row.action.reason = reason_of(stays ? StepSide::service : StepSide::both);
  }
  report.operation = undo.id;
  // What else differs was not asked for.
  report.partial = false;
  report.clean = !report.ended_by && !report.guard && report.conflicts.empty() && result.left.empty() &&
                 std::none_of(report.rows.begin(), report.rows.end(), is_unfinished);
  if (report.ended_by || report.guard) return {};
  const std::size_t left_before = result.left.size();
  auto files = give_theirs_back(session, undo, result.left);
  if (!files) {
    report.ended_by = std::move(files).error();
    return {};
  }
  if (result.left.size() > left_before) WS_TRY(operations.set_partial(undo.id));
  WS_LET(const std::vector<FileStep> back, open_again(session, undo, decided, *files, steps, result.left));
  if (!back.empty()) {
    tell_opened_again(decided, steps, report.rows);
    WS_TRY(put_back(back));
    if (was_any_open) WS_TRY(tell_of_conflicts(context, back, report));
  }
  tell_file_conflicts(*files, Row::State::done, report);
  return record();
}

/// Whether this is the very undo that an earlier call had begun.
bool is_same(const UndoReport& finished, const UndoOptions& options) {
  return options.operation ? *options.operation == finished.undone.id : (finished.undone.undoes != 0) == options.redo;
}

/// What a decision left as it was here.
std::vector<LeftAlone> find_unchanged(const std::vector<OperationRow>& rows,
                                      const std::map<RelativePath, OpenAttachment>& files,
                                      const UndoOptions& options) {
  std::vector<LeftAlone> left;
  for (const OperationRow& row : rows) {
    if (!row.origins.has(ChangeOrigin::decided) || row.changes() || files.contains(row.path()) ||
        (options.only && !options.only(row.path())))
      continue;
    left.push_back({.path = row.path(), .why = "the decision replaced nothing here", .is_final = true});
  }
  return left;
}

/// What came because it is no longer left out: an undo would take it from the service too.
Result<std::vector<LeftAlone>> find_taken(Session& session, const Operation& undone) {
  WS_LET(const std::vector<OperationRow> rows, session.state.operations().rows(undone.id));
  std::vector<LeftAlone> left;
  left.reserve(rows.size());
  for (const OperationRow& row : rows) {
    left.push_back({.path = row.path(),
                    .why = "`ws sync take` brought it back: `ws sync leave` leaves it out again",
                    .is_final = true});
  }
  return left;
}

/// Where these changes put files that their undo takes away.
std::set<RelativePath> places_left(const std::vector<OperationRow>& rows) {
  std::set<RelativePath> places;
  for (const OperationRow& row : rows) {
    if (row.after && (!row.before || row.before->path != row.after->path)) places.insert(row.after->path);
  }
  return places;
}

/// Those for which the service has no document of that text again yet: with one, they are matched.
void keep_made_anew(UndoReport& result) {
  std::set<RelativePath> matched;
  for (const Row& row : result.report.rows) {
    if (row.action.kind == ActionKind::adopt) matched.insert(row.action.path);
  }
  std::erase_if(result.anew, [&](const OperationRow& row) { return matched.contains(row.path()); });
}

/// Empty, and nothing is done: nothing of it is left to undo, and it was not asked for by its number.
Result<std::optional<UndoReport>> undo_one(RunContext& context, const UndoOptions& options, const Operation& undone) {
  UndoReport result{.undone = undone};
  if (undone.kind == take_operation) {
    WS_LET(result.left, find_taken(context.session, undone));
    // No later call can take it back either: the next one goes further.
    if (!options.dry_run) WS_TRY(context.session.state.operations().set_lasting(undone.id));
    return std::optional(std::move(result));
  }
  WS_LET(const RuleChange rule, rule_change_of(context, undone));
  if (rule == RuleChange::takes) WS_TRY(change_rule(context, undone, rule, options.only, options.dry_run));
  WS_LET(std::vector<OperationRow> rows, context.session.state.operations().rows(result.undone.id));
  if (undone.undoes != 0) std::erase_if(rows, [](const OperationRow& row) { return row.is_of_others(); });
  WS_LET(const bool is_local, was_never_sent(context.session, undone, rows));
  if (!is_local && context.session.remote == nullptr)
    return fail(Failure::Kind::usage, "this cannot be done without the service", "run `ws login`");
  const FlushAhead flush(context.session, rows.size());
  WS_LET(const auto decided_files, context.session.attachments().decided_conflicts(undone.id));
  const std::vector<LeftAlone> unchanged = find_unchanged(rows, decided_files, options);
  const auto files =
      std::stable_partition(rows.begin(), rows.end(), [](const OperationRow& row) { return !row.is_about_file(); });
  const std::vector<OperationRow> of_files(files, rows.end());
  rows.erase(files, rows.end());
  const AsksService asks = is_local ? AsksService::no : AsksService::yes;
  WS_LET(PlannedUndo planned, prepare_undo(context.session, rows, places_left(of_files), options, undone, asks));
  WS_LET(result.report, report_of(context.session, planned.survey));
  if (!planned.is_stopped) {
    std::vector<LeftAlone>& left = planned.undo.left;
    left.insert(left.end(), unchanged.begin(), unchanged.end());
    WS_LET(const std::vector<Action> actions,
           plan_file_undo(context.session, undone, of_files, options, asks, planned));
    if (is_local) {
      result.report.rows.clear();
      for (const FileStep& step : planned.undo.steps)
        result.report.rows.push_back(row_of(context.session, step, Row::State::planned));
    } else {
      foresee(context.session, planned.undo, actions, result);
      WS_LET(const std::vector<DecidedText> decided, context.session.state.operations().decided_texts(undone.id));
      tell_opened_again(decided, planned.undo.steps, result.report.rows);
      foresee_conflicts(decided, planned.undo.steps, result.report.rows);
      tell_file_conflicts(planned.opened_again, Row::State::planned, result.report);
    }
    sort_by_path(result.report.rows);
    // What is left out again goes here alone, as it did the first time.
    result.report.guard.reset();
    if (!options.allow_deletes && rule != RuleChange::leaves) {
      WS_LET(result.report.guard, guard_of_undo(context.session, result.report));
    }
  }
  UndoPlan& plan = planned.undo;
  const bool does_nothing = plan.steps.empty() && planned.opened_again.empty();
  const bool is_spent = !planned.is_stopped && does_nothing && plan.left.empty() && !plan.is_partial;
  if (is_spent && !options.operation) return std::optional<UndoReport>();
  const bool leaves_more = plan.is_partial || !std::ranges::all_of(plan.left, &LeftAlone::is_final);
  // An undo is about the files of its run: what else lies here was not asked for.
  result.report.not_included = 0;
  result.left = planned.undo.left;
  result.anew = planned.undo.anew;
  keep_made_anew(result);
  if (options.dry_run || planned.is_stopped || does_nothing || result.report.guard) {
    result.report.clean =
        result.report.rows.empty() && result.left.empty() && !result.report.guard && !planned.is_stopped;
    // Asked for by its number, or nothing that a later call can do: the way further back leads past it.
    const bool ends_here = !planned.is_stopped && does_nothing && !leaves_more;
    if (ends_here && !options.dry_run) {
      Operations operations = context.session.state.operations();
      WS_TRY(plan.left.empty() ? operations.set_spent(undone.id) : operations.set_lasting(undone.id));
    }
    return std::optional(std::move(result));
  }
  WS_LET(const std::vector<LeftAlone> not_ready, prepare_bytes(context.session, plan.steps));
  plan.left.insert(plan.left.end(), not_ready.begin(), not_ready.end());
  result.left = plan.left;
  if (plan.steps.empty() && planned.opened_again.empty()) return std::optional(std::move(result));
  if (rule == RuleChange::leaves) WS_TRY(change_rule(context, undone, rule, options.only, false));
  WS_TRY(context.session.history.flush());
  WS_LET(Operation undo, new_operation(context, options.redo ? "redo" : "undo"));
  undo.undoes = result.undone.id;
  undo.is_first = false;  // it knows of what it takes back
  undo.is_partial = leaves_more || !not_ready.empty();
  undo.may_delete = options.allow_deletes;
  undo.is_local = is_local;
  Operations operations = context.session.state.operations();
  operations.begin(undo);
  WS_LET(sqlite::Transaction transaction, context.session.state.begin());
  WS_TRY(operations.put_undo(planned.undo.steps));
  WS_TRY(record_steps_to_write(context.session, planned.undo.steps));
  for (const auto& [document, row] : planned.matched) WS_TRY(context.session.state.put_base(document, row));
  WS_TRY(operations.put_undo_left(*operations.current(), planned.undo.left));
  AttachmentStore store = context.session.attachments();
  for (const auto& [path, open] : planned.opened_again)
    WS_TRY(store.set_decided(path, undone.id, *operations.current()));
  WS_TRY(transaction.commit());
  undo.id = *operations.current();
  undo.stage = Operation::Stage::undoing_on_disk;
  WS_TRY(carry_out_undo(context, undo, planned.undo.steps, &planned.survey, result));
  add_finished(context, result.report);
  keep_made_anew(result);
  return std::optional(std::move(result));
}

}  // namespace

Result<std::set<RelativePath>> finish_steps_here(Session& session, Operation& undoing) {
  if (undoing.stage == Operation::Stage::undoing_on_disk) {
    WS_LET(const std::vector<FileStep> steps, session.state.operations().undo_steps(undoing.id));
    StepsHere here(session, undoing, steps, true);
    WS_TRY(here.begin({}));
    WS_TRY(here.end());
    undoing.stage = Operation::Stage::undoing_on_service;
  }
  WS_LET(const std::vector<LeftAlone> left, session.state.operations().undo_left(undoing.id));
  return without_file(session, left);
}

Result<void> finish_interrupted_undo(RunContext& context, const Operation& undoing) {
  UndoReport result{.was_begun = true};
  WS_LET(const auto undone, context.session.state.operations().find(undoing.undoes));
  if (undone) result.undone = *undone;
  WS_LET(result.left, context.session.state.operations().undo_left(undoing.id));
  WS_LET(const std::vector<FileStep> steps, context.session.state.operations().undo_steps(undoing.id));
  WS_TRY(carry_out_undo(context, undoing, steps, nullptr, result));
  if (result.report.ended_by) return fail(std::move(*result.report.ended_by));
  // Its commit may have been finished before.
  for (Row& row : context.finished) row.action.reason = {};
  context.finished.insert(context.finished.end(), result.report.rows.begin(), result.report.rows.end());
  // Among the rows of another run, which does not say of what they are a part.
  for (Row& row : context.finished) {
    if (row.action.reason.empty()) row.action.reason = "undone";
  }
  sort_by_path(context.finished);
  result.report.rows = context.finished;
  if (context.session.remote != nullptr || undoing.is_local) context.finished_undo = std::move(result);
  return {};
}

namespace {

Result<std::optional<std::uint64_t>> find_run_before(StateStore& state,
                                                     const Operation& operation,
                                                     const UndoOptions& options) {
  WS_LET(std::vector<Operation> all, state.operations().list());
  for (Operation& each : all) each.is_spent = each.is_spent || each.id >= operation.id;
  const std::optional<Operation> last = last_to_undo(all, options.redo ? 1 : 0);
  return last ? std::optional(last->id) : std::nullopt;
}

}  // namespace

Result<UndoReport> undo_operation(RunContext& context, const UndoOptions& options) {
  if (context.finished_undo && is_same(*context.finished_undo, options)) {
    context.finished.clear();
    return std::move(*context.finished_undo);
  }
  std::vector<Operation> passed;
  while (true) {
    WS_LET(Operation operation, find_operation(context.session.state, options, passed));
    WS_LET(std::optional<UndoReport> result, undo_one(context, options, operation));
    if (result) {
      result->passed = std::move(passed);
      if (result->report.rows.empty() && !result->report.guard && !result->left.empty()) {
        WS_LET(result->further_back, find_run_before(context.session.state, operation, options));
      }
      return std::move(*result);
    }
    if (!options.dry_run) WS_TRY(context.session.state.operations().set_spent(operation.id));
    passed.push_back(std::move(operation));
  }
}

}  // namespace ws::sync
