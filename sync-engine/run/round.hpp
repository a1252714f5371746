/// One round of a run (pull, apply, push, commit), and further rounds where its result needs them.
#pragma once

#include <optional>

#include "sync-engine/model/options.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/publish/publish.hpp"
#include "sync-engine/run/run_context.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// What a round may publish at once: a survey whose plan has pushes alone, and the report of it.
struct PlannedPushes {
  const Survey& survey;
  Report report;
  AwaitFiles await_files = {};
};

/// A round, and at most two more to carry out decisions. A failure that ends it early is in the report. `first`: the
/// first round has been planned.
Result<Report> run_rounds(RunContext& context, const RunOptions& options, std::optional<PlannedPushes> first = {});

enum class LinkMode { leave, update };
/// The first half: surveys both sides and applies incoming changes.
Result<Report> pull_half(RunContext& context,
                         const RunOptions& options,
                         Survey& survey,
                         LinkMode links = LinkMode::leave);
/// Whether the guard stopped it or there is nothing to do.
bool is_up_to_date(const Report& report, const Survey& survey);
/// Completes the report: open conflicts, and whether anything is left to do.
Result<void> close_report(RunContext& context, Report& report);
/// Adds what an interrupted earlier command had published. Its conflicts are in the new plan already.
void add_finished(RunContext& context, Report& report);

}  // namespace ws::sync
