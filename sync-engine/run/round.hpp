/// One round of a run (pull, apply, push, commit), and further rounds where its result needs them; after the documents
/// its attachments. Links to renamed files are counted, and with `links: keep` edited before the renames are pushed.
#pragma once

#include <cstddef>
#include <optional>

#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/attachments/sync_attachments.hpp"
#include "sync-engine/changes/edit_files.hpp"
#include "sync-engine/model/options.hpp"
#include "sync-engine/model/report.hpp"
#include "sync-engine/publish/publish.hpp"
#include "sync-engine/relink/relink.hpp"
#include "sync-engine/run/begin.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// What a round may publish at once: a survey whose plan has pushes alone, and the report of it.
struct PlannedPushes {
  Survey& survey;
  Report report;
  AwaitFiles await_files = {};
};

/// A round, and at most two more to carry out decisions. A failure that ends it early is in the report. `first`: the
/// first round has been planned.
Result<Report> run_rounds(RunContext& context, const RunOptions& options, std::optional<PlannedPushes> first = {});

/// The first half: surveys both sides and applies incoming changes.
Result<Report> pull_half(RunContext& context, const RunOptions& options, Survey& survey);
/// The first half alone, as a run of its own.
Result<Report> pull_round(RunContext& context, const RunOptions& options);
/// Whether the guard stopped it or there is nothing to do.
bool is_up_to_date(const Report& report, const Survey& survey);
/// Completes the report: open conflicts, and whether anything is left to do.
Result<void> close_report(RunContext& context, Report& report);
/// Adds what an interrupted earlier command had published. Its conflicts are in the new plan already.
void add_finished(RunContext& context, Report& report);

Result<void> begin_writing_notes(RunContext& context);
Result<void> end_writing_notes(RunContext& context);

/// Surveys both sides again where documents changed. With `on_conflict`, conflicts are decided at once. What could not
/// come before a file left its place comes in one more round.
Result<void> sync_files(RunContext& context, const RunOptions& options, Report& report);

/// Does what writes notes outside of a run, `write`: what people wrote before makes its wishes first, and what is
/// written by this makes none, also where it is cut off.
template <class Write>
auto while_writing_notes(RunContext& context, Write write) -> decltype(write()) {
  WS_TRY(begin_writing_notes(context));
  auto written = write();
  auto ended = end_writing_notes(context);
  if (written && !ended) return fail(maybe_made(std::move(ended).error()));
  return written;
}

/// `status` (`only_looks`) counts all links that lead nowhere. A run reads the notes only where it sees a rename: a
/// first pull would read each of them once more.
void count_links(Session& session,
                 const Survey& survey,
                 const AttachmentSurvey& files,
                 const RunOptions& options,
                 bool only_looks,
                 Report& report);
/// Counts the broken links once more where the run edited links: a merge with other edits may have broken some.
Result<void> count_links_again(Session& session, Report& report);
/// With `links: keep`: what the renames of the survey edit. Nothing where the guard stops the run.
Result<RelinkPlan> plan_kept_links(Session& session, const Survey& survey, const RunOptions& options);
/// The survey of whatever changes files or sends them: with `links: keep` these edits are made first. `mended`: how
/// many links.
Result<Survey> survey_with_links(Session& session, const RunOptions& options, std::size_t& mended);

}  // namespace ws::sync
