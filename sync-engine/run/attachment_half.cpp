#include "sync-engine/run/attachment_half.hpp"

#include <algorithm>
#include <utility>

#include "sync-engine/run/report_rows.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {
namespace {

Result<void> look_at_files(RunContext& context, RunOptions options) {
  options.offline = true;
  WS_LET(const Survey now, ws::sync::survey(context.session, options, PullMode::inspect));
  WS_LET(context.attachments, survey_attachments(context.session, now, options));
  return {};
}

/// Decides the run's attachment conflicts and carries that out.
Result<void> decide_files(RunContext& context, RunOptions options, Report& report) {
  bool any = false;
  for (const Conflict& conflict : std::vector<Conflict>(report.conflicts)) {
    if (!conflict.is_about(ConflictSubject::attachment) || (options.only && !options.only(conflict.path))) continue;
    if (!decide_attachment(context.session, *context.clock, conflict.path, *options.on_conflict)) continue;
    any = true;
    std::erase_if(report.rows, [&](const Row& row) {
      return row.action.attachment && row.action.kind == ActionKind::conflict && row.action.path == conflict.path;
    });
    std::erase_if(report.conflicts, [&](const Conflict& each) { return each.id == conflict.id; });
  }
  if (!any) return {};
  WS_TRY(look_at_files(context, options));
  report.clean = true;
  WS_TRY(sync_attachments(
      context.session, *context.clock, std::move(context.attachments), AttachmentHalves::both, report));
  report.clean = report.clean && report.conflicts.empty() && std::ranges::none_of(report.rows, is_unfinished);
  return {};
}

}  // namespace

Result<void> sync_files(RunContext& context, const RunOptions& options, AttachmentHalves halves, Report& report) {
  if (report.guard || report.ended_by) {
    add_to_report(context.attachments, report);
    return {};
  }
  const bool any_done = std::ranges::any_of(report.rows, [](const Row& row) { return row.state == Row::State::done; });
  if (any_done) WS_TRY(look_at_files(context, options));
  WS_TRY(sync_attachments(context.session, *context.clock, std::move(context.attachments), halves, report));
  if (!options.on_conflict || halves == AttachmentHalves::here || report.ended_by) return {};
  return decide_files(context, options, report);
}

}  // namespace ws::sync
