/// Pull, apply, push, commit: one round of a run, and the rounds that follow from what it decided or learnt.
#pragma once

#include "sync-engine/model/options.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/run/run_context.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// A round, and at most two more where what was decided needs a plan of its own. What ends it early is in the report.
Result<Report> rounds(RunContext& context, const RunOptions& options);

enum class LinkMode { leave, mend };
/// The first half: both sides are surveyed, and what comes is applied here.
Result<Report> pull_half(RunContext& context,
                         const RunOptions& options,
                         Survey& survey,
                         LinkMode links = LinkMode::leave);
/// The guard stops a call before its first change; nothing to do needs no second look at the disk.
bool is_up_to_date(const Report& report, const Survey& survey);
/// The report's last word: what is open now, and whether anything is left to do.
Result<void> close_report(RunContext& context, Report& report);
/// What an earlier command published belongs to the report too. A conflict that it met is one of the new plan.
void tell_finished(RunContext& context, Report& report);

}  // namespace ws::sync
