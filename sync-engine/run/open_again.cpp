#include "sync-engine/run/open_again.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/attachments/tell_attachments.hpp"
#include "sync-engine/attachments/undo_files.hpp"
#include "sync-engine/changes/edit_files.hpp"
#include "sync-engine/run/round.hpp"
#include "sync-engine/undo/plan_undo.hpp"

namespace ws::sync {
namespace {

constexpr std::string_view opened_again = "your file keeps its text, and the conflict is open again";

/// The step that takes a decision back; null: nothing of it is.
const FileStep* step_of(const DecidedText& decided, const std::vector<FileStep>& steps) {
  const auto found = std::ranges::find_if(steps, [&decided](const FileStep& step) {
    return step.document == decided.document && (step.side == StepSide::in_the_end) == decided.is_for_theirs();
  });
  return found == steps.end() || (!found->from && !decided.is_for_theirs()) ? nullptr : &*found;
}

const RelativePath& path_of(const FileStep& step) { return step.from ? *step.from : *step.to; }

}  // namespace

void tell_opened_again(const std::vector<DecidedText>& decided,
                       const std::vector<FileStep>& steps,
                       std::vector<Row>& rows) {
  for (const DecidedText& each : decided) {
    const FileStep* const step = step_of(each, steps);
    if (step == nullptr || each.is_for_theirs()) continue;
    for (Row& row : rows) {
      if (is_push(row.action.kind) && row.action.path == *step->from) row.action.reason = opened_again;
    }
  }
}

void tell_file_conflicts(const std::map<RelativePath, OpenAttachment>& files, Row::State state, Report& report) {
  for (const auto& [path, open] : files) {
    Conflict conflict = conflict_of(path, open);
    const std::string_view reason = conflict.row().reason;
    report.rows.push_back(
        {.action = {.kind = ActionKind::conflict, .path = path, .reason = reason, .attachment = true}, .state = state});
    report.conflicts.push_back(std::move(conflict));
  }
  report.clean = report.clean && files.empty();
}

void foresee_conflicts(const std::vector<DecidedText>& decided,
                       const std::vector<FileStep>& steps,
                       std::vector<Row>& rows) {
  for (const DecidedText& each : decided) {
    const FileStep* const step = step_of(each, steps);
    if (step == nullptr || !each.was_open()) continue;
    rows.push_back({.action = {.kind = ActionKind::conflict,
                               .path = each.is_for_theirs() && step->to ? *step->to : path_of(*step),
                               .reason = each.conflict.row().reason,
                               .document = each.conflict.document}});
  }
}

Result<std::vector<FileStep>> open_again(Session& session,
                                         const Operation& undo,
                                         const std::vector<DecidedText>& decided,
                                         const std::map<RelativePath, OpenAttachment>& files,
                                         const std::vector<FileStep>& steps,
                                         const std::vector<LeftAlone>& left) {
  std::vector<FileStep> back;
  if (decided.empty() && files.empty()) return back;
  WS_LET(const auto base, session.state.base());
  WS_LET(const auto heard, session.state.pending());
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  for (const DecidedText& each : decided) {
    const FileStep* const step = step_of(each, steps);
    if (step == nullptr || std::ranges::find(left, path_of(*step), &LeftAlone::path) != left.end()) continue;
    const bool is_for_theirs = each.is_for_theirs();
    const auto there = base.find(each.document);
    if ((there == base.end()) != !(is_for_theirs ? step->from : step->to)) continue;
    const DocumentId& document = each.conflict.document;
    const bool is_as_decided = !is_for_theirs && step->seen == each.text;
    FileStep one = *step;
    if (!is_for_theirs) {
      one = {.to = step->from,
             .result = is_as_decided ? each.conflict.local->hash : *step->seen,
             .result_blob = is_as_decided ? each.local_blob : step->seen_blob};
    }
    one.document = document;
    one.side = StepSide::both;
    PendingRow pending{.revision = each.archived_at};
    if (there != base.end()) {
      const BaseRow& now = there->second;
      if (!is_for_theirs) {
        one.from = one.to = now.disk_path();
        one.seen = now.entry.hash;
        one.seen_blob = now.blob;
      }
      pending = {.entry = now.entry, .revision = now.entry.revision, .blob = now.blob};
    }
    WS_TRY(each.base ? session.state.put_base(document, *each.base) : session.state.forget_base(document));
    if (!heard.contains(document)) WS_TRY(session.state.put_pending(document, pending));
    back.push_back(std::move(one));
  }
  WS_TRY(open_files_again(session, undo.id, files, steps, back));
  if (!back.empty()) WS_TRY(session.state.operations().put_undo_here(back));
  WS_TRY(record_steps_to_write(session, back));
  WS_TRY(transaction.commit());
  return back;
}

Result<void> tell_of_conflicts(RunContext& context, const std::vector<FileStep>& steps, Report& report) {
  const std::set<RelativePath> paths = paths_of(steps);
  // What was decided is to be decided again, also where the texts would merge.
  RunOptions run{.merge = false,
                 .whole = true,
                 .only = [&paths](const RelativePath& path) { return paths.contains(path); },
                 .leaves_links = true};
  for (const FileStep& step : steps) run.only_too.insert(step.document);
  WS_LET(Report told, run_rounds(context, run));
  std::ranges::move(told.rows, std::back_inserter(report.rows));
  report.conflicts = std::move(told.conflicts);
  report.revision = told.revision;
  report.ended_by = std::move(told.ended_by);
  report.clean = false;
  return {};
}

}  // namespace ws::sync
