#include "sync-engine/run/run_undo.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "sync-engine/attachments/take_back_attachments.hpp"
#include "sync-engine/publish/push_ahead.hpp"
#include "sync-engine/relink/relink.hpp"
#include "sync-engine/run/attachment_half.hpp"
#include "sync-engine/run/operation_in_hand.hpp"
#include "sync-engine/run/report_rows.hpp"
#include "sync-engine/run/round.hpp"
#include "sync-engine/undo/take_back.hpp"

namespace ws::sync {
namespace {

/// The rows of the pushes that an undo causes.
void foresee_attachments(const Session& session, const std::vector<UndoStep>& steps, Report& report) {
  for (const UndoStep& step : steps) {
    if (!is_about_bytes(session, step)) continue;
    const ActionKind kind = !step.from ? ActionKind::push_create
                            : !step.to ? ActionKind::push_delete
                                       : ActionKind::push_update;
    report.rows.push_back(
        {.action = {
             .kind = kind, .path = step.to ? *step.to : *step.from, .reason = "taken back", .attachment = true}});
  }
}

/// The documents that this undo has changed or skipped, also in an interrupted earlier call.
Result<std::set<RelativePath>> told_paths(Session& session, const UndoReport& result) {
  std::set<RelativePath> told;
  for (const LeftAlone& each : result.left) told.insert(each.path);
  for (const Row& row : result.report.rows) {
    told.insert(row.action.path);
    if (row.action.previous_path) told.insert(*row.action.previous_path);
  }
  Operations operations = session.state.operations();
  WS_LET(const std::vector<OperationRow> recorded, operations.rows(*operations.current()));
  for (const OperationRow& row : recorded) {
    if (row.before) told.insert(row.before->path);
    if (row.after) told.insert(row.after->path);
  }
  return told;
}

ActionKind kind_of(const UndoStep& step) {
  if (!step.to) return ActionKind::pull_delete;
  if (!step.from) return ActionKind::pull_create;
  return step.from == step.to ? ActionKind::pull_update : ActionKind::pull_move;
}

OperationRow recorded_as(const UndoStep& step, const DocumentId& document) {
  OperationRow row{.document = document, .ways = static_cast<std::uint8_t>(Way::restored)};
  if (step.from) row.before = Version{.path = *step.from, .hash = *step.seen, .blob = step.seen_blob};
  if (step.to) {
    const bool is_same = step.result_blob.empty();
    row.after = Version{.path = *step.to, .hash = *step.result, .blob = is_same ? step.seen_blob : step.result_blob};
  }
  return row;
}

/// Whether the run had a row about each of these files.
bool tells_of_all(const Report& report, const std::vector<UndoStep>& steps) {
  std::unordered_set<std::string_view> told;
  for (const Row& row : report.rows) {
    told.insert(row.action.path.text());
    if (row.action.previous_path) told.insert(row.action.previous_path->text());
  }
  return std::ranges::all_of(
      steps, [&](const UndoStep& step) { return told.contains(step.to ? step.to->text() : step.from->text()); });
}

/// What was taken back before any run had told the service of it: the two sides agree again, so no run has a row
/// about it.
Result<void> record_steps_here(Session& session, const std::vector<UndoStep>& steps, UndoReport& result) {
  WS_LET(const std::set<RelativePath> told, told_paths(session, result));
  for (const UndoStep& step : steps) {
    const RelativePath& path = step.to ? *step.to : *step.from;
    const bool is_known = !step.from || !step.seen_blob.empty();
    const bool is_told = told.contains(path) || (step.from && told.contains(*step.from));
    if (is_about_bytes(session, step) || is_told || !is_known) continue;
    Row row{.action = {.kind = kind_of(step), .path = path, .reason = "taken back"}, .state = Row::State::done};
    if (row.action.kind == ActionKind::pull_move) row.action.previous_path = step.from;
    WS_LET(const std::optional<KnownDocument> known, session.state.find_base(path));
    if (known) row.action.document = known->document;
    WS_TRY(session.state.operations().record(recorded_as(step, row.action.document)));
    result.report.rows.push_back(std::move(row));
  }
  return {};
}

/// Stages the texts of the new files on the service while the files are written.
void push_made(Session& session,
               const std::vector<const UndoStep*>& made,
               const std::function<void(std::size_t place, const std::string& text)>& take) {
  std::vector<NewText> texts;
  texts.reserve(made.size());
  for (const UndoStep* step : made) {
    texts.push_back({.path = *step->to, .hash = *step->result, .blob = step->result_blob});
  }
  push_ahead(session, texts, take);
}

/// The journalled steps, on the disk.
Result<void> carry_out_here(Session& session,
                            const Operation& undo,
                            const std::vector<UndoStep>& steps,
                            UndoReport& result) {
  std::vector<UndoStep> of_texts = steps;
  const auto files = std::stable_partition(
      of_texts.begin(), of_texts.end(), [&session](const UndoStep& step) { return !is_about_bytes(session, step); });
  const std::vector<UndoStep> of_bytes(files, of_texts.end());
  of_texts.erase(files, of_texts.end());
  WS_LET(std::vector<LeftAlone> left,
         take_back_here(session,
                        of_texts,
                        {.was_begun = result.was_begun,
                         .reads = [&session](const auto& made, const auto& take) { push_made(session, made, take); }}));
  WS_LET(const std::vector<LeftAlone> left_of_bytes, take_attachments_back(session, of_bytes));
  left.insert(left.end(), left_of_bytes.begin(), left_of_bytes.end());
  result.left.insert(result.left.end(), left.begin(), left.end());
  WS_TRY(record_renamed_files(session, of_texts));
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  WS_TRY(session.state.operations().put_undo_left(undo.id, left));
  WS_TRY(session.state.operations().set_stage(undo.id, Operation::Stage::undoing_on_service));
  return transaction.commit();
}

/// Carries out the journalled steps, then a run restricted to these files. Without the service a later command runs it.
Result<void> carry_out_undo(RunContext& context,
                            const Operation& undo,
                            const std::vector<UndoStep>& steps,
                            UndoReport& result) {
  Operations operations = context.session.state.operations();
  if (undo.stage != Operation::Stage::undoing_on_service) WS_TRY(carry_out_here(context.session, undo, steps, result));
  if (context.session.remote == nullptr) return {};
  const std::set<RelativePath> paths = paths_of(steps);
  RunOptions run{.message = "Take back run " + std::to_string(undo.undoes),
                 .only = [&paths](const RelativePath& path) { return paths.contains(path); }};
  WS_LET(result.report, rounds(context, run));
  Report& report = result.report;
  // The confirmation covers these deletes, not an empty or a different service.
  if (report.guard && undo.may_delete && !report.guard->empty_listing && !report.guard->foreign_source) {
    run.allow_deletes = true;
    WS_LET(report, rounds(context, run));
  }
  if (context.session.knows_attachments()) WS_TRY(sync_files(context, run, AttachmentHalves::both, report));
  for (Row& row : report.rows) {
    if (is_push(row.action.kind)) row.action.reason = "taken back";
  }
  report.operation = undo.id;
  // What else differs was not asked for.
  report.partial = false;
  report.clean = !report.ended_by && !report.guard && report.conflicts.empty() && result.left.empty() &&
                 std::none_of(report.rows.begin(), report.rows.end(), is_unfinished);
  if (report.ended_by || report.guard) return {};
  WS_LET(sqlite::Transaction transaction, context.session.state.begin());
  if (!tells_of_all(result.report, steps)) WS_TRY(record_steps_here(context.session, steps, result));
  sort_by_path(result.report.rows);
  WS_TRY(operations.clear_undo(undo.id));
  WS_TRY(close_operation(context));
  return transaction.commit();
}

/// Whether this is the very undo that an earlier call had begun.
bool is_same(const UndoReport& finished, const UndoOptions& options) {
  return options.operation ? *options.operation == finished.undone.id : (finished.undone.undoes != 0) == options.redo;
}

}  // namespace

Result<void> finish_interrupted_undo(RunContext& context, const Operation& undoing) {
  // Steps of another kind than an undo: a rename with its links.
  if (undoing.undoes == 0) return finish_relinking(context.session, undoing);
  UndoReport result{.was_begun = true};
  WS_LET(const auto undone, context.session.state.operations().find(undoing.undoes));
  if (undone) result.undone = *undone;
  WS_LET(result.left, context.session.state.operations().undo_left(undoing.id));
  WS_LET(const std::vector<UndoStep> steps, context.session.state.operations().undo_steps(undoing.id));
  WS_TRY(carry_out_undo(context, undoing, steps, result));
  if (result.report.ended_by) return fail(std::move(*result.report.ended_by));
  context.finished.insert(context.finished.end(), result.report.rows.begin(), result.report.rows.end());
  if (context.session.remote != nullptr) context.finished_undo = std::move(result);
  return {};
}

Result<UndoReport> undo_operation(RunContext& context, const UndoOptions& options) {
  if (context.finished_undo && is_same(*context.finished_undo, options)) {
    context.finished.clear();
    return std::move(*context.finished_undo);
  }
  UndoReport result;
  WS_LET(result.undone, find_operation(context.session.state, options));
  WS_LET(std::vector<OperationRow> rows, context.session.state.operations().rows(result.undone.id));
  const FlushAhead flush(context.session, rows.size());
  const auto files = std::stable_partition(
      rows.begin(), rows.end(), [&context](const OperationRow& row) { return !is_about_bytes(context.session, row); });
  const std::vector<OperationRow> of_files(files, rows.end());
  rows.erase(files, rows.end());
  WS_LET(PlannedUndo planned, look_and_plan(context.session, std::move(rows), options));
  WS_LET(result.report, report_of(context.session, planned.survey));
  if (!planned.is_stopped) {
    plan_attachments_back(context.session, of_files, options, planned.undo);
    foresee_attachments(context.session, planned.undo.steps, result.report);
  }
  // An undo is about the files of its run: what else lies here was not asked for.
  result.report.not_included = 0;
  result.left = planned.undo.left;
  result.anew = planned.undo.anew;
  if (options.dry_run || planned.is_stopped || planned.undo.steps.empty() || result.report.guard) {
    result.report.clean =
        result.report.rows.empty() && result.left.empty() && !result.report.guard && !planned.is_stopped;
    return result;
  }
  WS_TRY(context.session.history.flush());
  WS_LET(Operation undo, new_operation(context, options.redo ? "redo" : "undo"));
  undo.undoes = result.undone.id;
  undo.is_partial = planned.undo.is_partial;
  undo.may_delete = options.allow_deletes;
  Operations operations = context.session.state.operations();
  operations.begin(undo);
  WS_LET(sqlite::Transaction transaction, context.session.state.begin());
  WS_TRY(operations.put_undo(planned.undo.steps));
  WS_TRY(operations.put_undo_left(*operations.current(), planned.undo.left));
  WS_TRY(transaction.commit());
  undo.id = *operations.current();
  undo.stage = Operation::Stage::undoing_on_disk;
  WS_TRY(carry_out_undo(context, undo, planned.undo.steps, result));
  tell_finished(context, result.report);
  return result;
}

}  // namespace ws::sync
