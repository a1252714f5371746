#include "sync-engine/run/round.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sync-engine/attachments/decide_attachment.hpp"
#include "sync-engine/attachments/tell_attachments.hpp"
#include "sync-engine/changes/apply.hpp"
#include "sync-engine/changes/edit_files.hpp"
#include "sync-engine/conflicts/decide.hpp"
#include "sync-engine/conflicts/open_conflicts.hpp"
#include "sync-engine/reconcile/freed_places.hpp"
#include "sync-engine/reconcile/guard.hpp"
#include "sync-engine/relink/relink.hpp"
#include "sync-engine/run/report_rows.hpp"
#include "sync-engine/survey/cached_walk.hpp"
#include "sync-engine/survey/held_documents.hpp"
#include "sync-engine/survey/link_index.hpp"

namespace ws::sync {
namespace {

/// The paths and documents of a report's rows.
class RowsAbout {
 public:
  explicit RowsAbout(const Report& report) {
    for (const Row& row : report.rows) {
      paths_.insert(row.action.path);
      documents_.insert(row.action.document);
    }
  }
  bool has(const Row& row) const {
    return paths_.contains(row.action.path) ||
           (!row.action.document.empty() && documents_.contains(row.action.document));
  }

 private:
  std::set<RelativePath> paths_;
  std::set<DocumentId> documents_;
};

enum class Freed { any, files };

/// The places that just became free here: all, or those of files that notes showed.
FreedPlaces places_freed(const Report& report, Freed what) {
  FreedPlaces freed;
  for (const Row& row : report.rows) {
    if (row.state == Row::State::done && (what == Freed::any || row.action.attachment)) freed.add(row.action);
  }
  return freed;
}

bool frees_twin(const Report& report, const FreedPlaces& freed) {
  return std::ranges::any_of(report.skipped, [&](const Skipped& each) { return freed.has_room_for(each); });
}

/// Whether something can take its place now, because a file that notes showed just left it.
bool frees_place(const Report& report) {
  const FreedPlaces freed = places_freed(report, Freed::files);
  return frees_twin(report, freed) || std::ranges::any_of(report.conflicts, [&](const Conflict& each) {
           return each.which == ConflictCase::not_synced && freed.overlaps(each.path);
         });
}

/// All open conflicts, also those whose file cannot be read now and is not in the plan.
Result<void> list_conflicts(RunContext& context, Report& report) {
  WS_LET(std::vector<Conflict> recorded, context.session.state.conflicts());
  std::set<std::pair<RelativePath, DocumentId>> known;
  for (const Conflict& each : recorded) {
    known.emplace(each.path, each.document);
    known.emplace(each.path, DocumentId());  // one that names no document is about that path
  }
  for (const Conflict& conflict : report.conflicts) {
    if (!known.contains({conflict.path, conflict.document}) && conflict.id.empty()) recorded.push_back(conflict);
  }
  report.conflicts = std::move(recorded);
  return {};
}

/// Of the notes as they are now.
Result<void> note_attachments_now(RunContext& context) {
  const RunOptions options{.merge = false, .offline = true};
  WS_LET(const Survey now, ws::sync::survey(context.session, options, PullMode::inspect));
  WS_TRY(note_attachments(context.session, now));
  return {};
}

/// Until it is taken away, what notes name newly is taken for written by this program: also after a kill. A tree that
/// knows of no attachment never had a text that names one.
Result<void> set_notes_under_way(Session& session, bool are_under_way) {
  if (!session.knows_attachments()) return {};
  const auto set = [&] { return session.attachments().set_note(notes_under_way_key, are_under_way ? "yes" : ""); };
  if (!are_under_way) return set();
  WS_LET(sqlite::Transaction transaction, session.state.begin());
  WS_TRY(set());
  return transaction.commit();
}

/// Decides the conflicts of a run by `on_conflict`. True: another round is needed to carry it out.
Result<bool> resolve_open(RunContext& context, const RunOptions& options, Report& report) {
  const auto& keep = options.on_conflict;
  if (!keep) return false;
  bool another_round = false;
  WS_LET(std::vector<Conflict> open, context.session.state.conflicts());
  std::vector<Choice> choices;
  for (Conflict& conflict : open) {
    // A service that went back must be decided explicitly.
    if (conflict.is_about(ConflictSubject::revision) || (options.only && !options.only(conflict.path))) continue;
    choices.push_back({.conflict = std::move(conflict), .keep = *keep});
  }
  if (!choices.empty()) WS_TRY(set_notes_under_way(context.session, true));
  const std::vector<Result<void>> decided = decide_conflicts(context.session, choices);
  SettledRows settled(report.rows);
  std::optional<Failure> ended_by;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (!decided[i]) {
      const Failure& why = decided[i].error();
      if (!is_about_one(why) && why.kind != Failure::Kind::usage && !ended_by) ended_by = why;
      continue;
    }
    const Conflict& conflict = choices[i].conflict;
    const bool is_elsewhere_there = conflict.remote && conflict.remote->path != conflict.path;
    another_round = another_round || conflict.is_about(ConflictSubject::place) || *keep == Keep::both ||
                    is_elsewhere_there || conflict.is_here_only();
    settled.settle(conflict, *keep, Row::State::done);
  }
  settled.drop_rows();
  std::erase_if(report.conflicts, [&](const Conflict& each) { return settled.has(each); });
  return ended_by ? Result<bool>(fail(std::move(*ended_by))) : another_round;
}

/// Push and commit. A failure that ends it early is in the report. Lets go of the survey: the look that ends the round
/// makes another, and of a large tree the two together are the most that a run ever holds.
Result<void> push_half(RunContext& context,
                       const RunOptions& options,
                       Survey& survey,
                       const AwaitFiles& await_files,
                       Report& report,
                       bool& another) {
  const auto publish = [&]() -> Result<void> {
    WS_TRY(publish_changes(context.session, survey, options.message, report.rows, await_files));
    WS_TRY(keep_local_conflicts(context.session, survey, report.rows));
    WS_LET(another, resolve_open(context, options, report));
    return {};
  };
  if (!report.ended_by) {
    if (auto published = publish(); !published) report.ended_by = published.error();
  }
  survey = {};
  WS_TRY(close_report(context, report));
  another = another ||
            (!report.ended_by && (frees_twin(report, places_freed(report, Freed::any)) || context.session.pulls_again));
  return {};
}

/// Pull, apply, push, commit, once.
Result<Report> round(RunContext& context, const RunOptions& options, bool& another) {
  another = false;
  context.session.pulls_again = false;
  Survey survey;
  WS_LET(Report report, pull_half(context, options, survey));
  if (is_up_to_date(report, survey)) {
    if (report.guard) return report;
    // Both sides are equal: what an earlier call staged is obsolete.
    if (!report.partial) WS_TRY(context.session.state.clear_staged());
    return report;
  }
  WS_TRY(push_half(context, options, survey, {}, report, another));
  return report;
}

Result<Report> first_round(RunContext& context,
                           const RunOptions& options,
                           std::optional<PlannedPushes> planned,
                           bool& another) {
  if (!planned) return round(context, options, another);
  context.session.pulls_again = false;
  WS_TRY(push_half(context, options, planned->survey, planned->await_files, planned->report, another));
  return std::move(planned->report);
}

/// Surveys again after notes were written. Deletes were weighed before: others than `weighed` wait for the next run.
Result<void> look_at_files(RunContext& context, RunOptions options, const std::set<RelativePath>& weighed) {
  options.offline = true;
  options.allow_deletes = true;
  options.allow_large = options.allow_large || !context.attachments.growth;
  context.session.wrote_notes = true;
  WS_LET(const Survey now, ws::sync::survey(context.session, options, PullMode::inspect));
  AttachmentSurvey& files = context.attachments;
  const std::optional<Guard> guard = files.guard;
  const bool held_deletes = files.held_deletes;
  const bool is_first = files.is_first;
  WS_LET(files, survey_attachments(context.session, now, options));
  const auto later = std::erase_if(
      files.plan.actions, [&](const Action& action) { return loses_text(action) && !weighed.contains(action.path); });
  files.guard = guard;
  files.held_deletes = held_deletes;
  files.is_first = files.is_first || is_first;
  files.is_partial = files.is_partial || later > 0;
  return set_notes_under_way(context.session, false);
}

/// What a later round reports, with what the earlier ones did. It reports open conflicts again and retries what failed.
void take_later(Report& report, Report rest) {
  rest.base_revision = report.base_revision;
  const RowsAbout later(rest);
  std::erase_if(report.rows, [&](const Row& row) {
    return row.action.kind == ActionKind::conflict || (row.state == Row::State::failed && later.has(row));
  });
  rest.rows.insert(rest.rows.begin(), report.rows.begin(), report.rows.end());
  sort_by_path(rest.rows);
  std::erase_if(report.remarks,
                [&](const Remark& each) { return std::ranges::find(rest.remarks, each) != rest.remarks.end(); });
  rest.remarks.insert(rest.remarks.begin(), report.remarks.begin(), report.remarks.end());
  rest.renamed_folders.insert(
      rest.renamed_folders.begin(), report.renamed_folders.begin(), report.renamed_folders.end());
  report = std::move(rest);
}

std::set<RelativePath> deletes_in(const AttachmentPlan& plan) {
  std::set<RelativePath> paths;
  for (const Action& action : plan.actions) {
    if (loses_text(action)) paths.insert(action.path);
  }
  return paths;
}

/// Who wrote what is about to come.
void note_writers(Session& session, const Survey& survey, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Action& action = row.action;
    const auto pending = survey.pending.find(action.document);
    if (pending == survey.pending.end() || is_push(action.kind)) continue;
    session.writers.insert_or_assign(action.path, pending->second.author.name);
  }
}

/// Decides the run's attachment conflicts and carries that out.
Result<void> decide_files(RunContext& context, RunOptions options, Report& report) {
  std::set<RelativePath> decided;
  SettledRows settled(report.rows);
  for (const Conflict& conflict : std::vector<Conflict>(report.conflicts)) {
    if (!conflict.is_about(ConflictSubject::attachment) || (options.only && !options.only(conflict.path))) continue;
    if (!decide_attachment(context.session, *context.clock, conflict.path, *options.on_conflict)) continue;
    decided.insert(conflict.path);
    // Ours is sent by the plan that follows, and has its row there.
    if (*options.on_conflict == Keep::remote) settled.settle(conflict, Keep::remote, Row::State::done);
    std::erase_if(report.conflicts, [&](const Conflict& each) { return each.id == conflict.id; });
  }
  settled.drop_rows();
  if (decided.empty()) return {};
  // Those that are still open are met again.
  std::erase_if(report.rows,
                [](const Row& row) { return row.action.attachment && row.action.kind == ActionKind::conflict; });
  std::erase_if(report.conflicts, [](const Conflict& each) { return each.is_about(ConflictSubject::attachment); });
  WS_TRY(look_at_files(context, options, decided));
  report.clean = true;
  WS_TRY(sync_attachments(context.session, *context.clock, std::move(context.attachments), options.half, report));
  report.clean = report.clean && report.conflicts.empty() && std::ranges::none_of(report.rows, is_unfinished);
  return {};
}

bool changes_names_here(const Row& row) {
  const ActionKind kind = row.action.kind;
  return row.action.attachment && row.state == Row::State::done &&
         (kind == ActionKind::pull_create || kind == ActionKind::pull_move || kind == ActionKind::pull_delete);
}

bool stops_run(const AttachmentSurvey& files) { return files.guard && !files.held_deletes; }

Result<void> sync_files_once(RunContext& context, const RunOptions& options, Report& report) {
  const bool any_done = std::ranges::any_of(report.rows, [](const Row& row) { return row.state == Row::State::done; });
  if (report.guard || report.ended_by) {
    add_to_report(context.attachments, report);
    if (!any_done) return {};
    context.session.wrote_notes = true;
    WS_TRY(note_attachments_now(context));
    return set_notes_under_way(context.session, false);
  }
  if (any_done) WS_TRY(look_at_files(context, options, deletes_in(context.attachments.plan)));
  WS_TRY(sync_attachments(context.session, *context.clock, std::move(context.attachments), options.half, report));
  if (options.on_conflict && options.half != Half::here && !report.ended_by)
    WS_TRY(decide_files(context, options, report));
  // Links to a file that came or went lead elsewhere now: the next run has no mark to make for that.
  return std::ranges::any_of(report.rows, changes_names_here) ? note_attachments_now(context) : Result<void>();
}

/// The local renames that this run pushes.
void add_rename(const Action& action, links::Renames& renamed) {
  if (action.kind == ActionKind::push_move && action.previous_path)
    renamed.emplace(action.previous_path->string(), action.path.string());
}

}  // namespace

bool is_up_to_date(const Report& report, const Survey& survey) {
  return report.guard || (report.rows.empty() && survey.plan.settled.empty());
}

Result<Report> pull_half(RunContext& context, const RunOptions& options, Survey& survey) {
  std::size_t mended = 0;
  WS_LET(survey, survey_with_links(context.session, options, mended));
  // Weighed with the actions of the notes, which the report takes.
  WS_LET(context.attachments, survey_attachments(context.session, survey, options));
  if (!stops_run(context.attachments)) {
    WS_TRY(store_survey(context.session, survey));
    WS_TRY(close_settled_conflicts(context.session, survey, options));
  }
  WS_LET(Report report, report_of(context.session, survey));
  note_writers(context.session, survey, report.rows);
  count_links(context.session, survey, context.attachments, options, false, report);
  if (stops_run(context.attachments)) report.guard = context.attachments.guard;
  report.links_mended = mended;
  if (!is_up_to_date(report, survey)) {
    if (auto applied = apply_here(context.session, survey, report.rows); !applied) report.ended_by = applied.error();
  }
  if (report.guard) return report;
  const std::vector<Row> unavailable = rows_of_unavailable(survey);
  report.rows.insert(report.rows.end(), unavailable.begin(), unavailable.end());
  if (!is_up_to_date(report, survey)) return report;
  WS_TRY(list_conflicts(context, report));
  report.clean = report.clean && report.conflicts.empty();
  return report;
}

Result<void> close_report(RunContext& context, Report& report) {
  refresh_cache(context.session);
  WS_LET(const bool remade, context.session.state.is_remade());
  if (remade && !report.ended_by) WS_TRY(context.session.state.set_remade(false));
  WS_TRY(list_conflicts(context, report));
  WS_LET(const SourceRevision revision, context.session.state.source_revision());
  report.revision = std::max(report.revision, revision);
  report.clean = !report.ended_by && !report.guard && !report.partial && report.conflicts.empty() &&
                 std::none_of(report.rows.begin(), report.rows.end(), is_unfinished);
  return {};
}

Result<Report> run_rounds(RunContext& context, const RunOptions& options, std::optional<PlannedPushes> first) {
  bool another = false;
  WS_LET(Report report, first_round(context, options, std::move(first), another));
  // Decisions about paths need another round. `on_conflict` does not apply in the last one: it would not end.
  RunOptions next = options;
  context.session.wrote_notes = true;
  for (const bool last : {false, true}) {
    if (!another || report.ended_by) return report;
    if (last) next.on_conflict.reset();
    auto rest = round(context, next, another);
    if (!rest) {
      report.ended_by = std::move(rest).error();
      return report;
    }
    take_later(report, std::move(*rest));
  }
  return report;
}

void add_finished(RunContext& context, Report& report) {
  std::erase_if(context.finished, [](const Row& row) { return row.action.kind == ActionKind::conflict; });
  report.rows.insert(report.rows.begin(), context.finished.begin(), context.finished.end());
  context.finished.clear();
  if (report.ended_by || report.guard) return;
  // With the conflict recorded the row is done.
  std::set<RelativePath> recorded;
  for (const Conflict& conflict : report.conflicts) {
    if (!conflict.id.empty()) recorded.insert(conflict.path);
  }
  for (Row& row : report.rows) {
    const bool is_planned = row.action.kind == ActionKind::conflict && row.state == Row::State::planned;
    if (is_planned && recorded.contains(row.action.path)) row.state = Row::State::done;
  }
}

Result<void> begin_writing_notes(RunContext& context) {
  WS_TRY(note_attachments_now(context));
  context.session.wrote_notes = true;
  return set_notes_under_way(context.session, true);
}

Result<void> end_writing_notes(RunContext& context) {
  WS_TRY(note_attachments_now(context));
  return set_notes_under_way(context.session, false);
}

Result<Report> pull_round(RunContext& context, const RunOptions& options) {
  Survey survey;
  WS_LET(Report report, pull_half(context, options, survey));
  if (is_up_to_date(report, survey)) return report;
  if (!report.ended_by) WS_TRY(keep_local_conflicts(context.session, survey, report.rows));
  const auto pushes = std::erase_if(report.rows, [](const Row& row) { return is_push(row.action.kind); });
  report.partial = report.partial || pushes > 0;
  survey = {};  // as after a push
  WS_TRY(close_report(context, report));
  return report;
}

Result<void> sync_files(RunContext& context, const RunOptions& options, Report& report) {
  WS_TRY(sync_files_once(context, options, report));
  if (report.ended_by || report.guard || !frees_place(report)) return {};
  RunOptions next = options;
  next.on_conflict.reset();
  bool another = false;
  WS_LET(Report rest, options.half == Half::here ? pull_round(context, next) : round(context, next, another));
  // Files that failed are tried once more.
  std::erase_if(report.rows, [](const Row& row) { return row.action.attachment && row.state != Row::State::done; });
  take_later(report, std::move(rest));
  return sync_files_once(context, next, report);
}

void count_links(Session& session,
                 const Survey& survey,
                 const AttachmentSurvey& files,
                 const RunOptions& options,
                 bool only_looks,
                 Report& report) {
  if (session.config.links == LinksMode::off || options.dry_run) return;  // it would write its index
  links::Renames renamed;
  for (const Row& row : report.rows) add_rename(row.action, renamed);
  for (const Action& action : files.plan.actions) add_rename(action, renamed);
  if (!only_looks && renamed.empty()) return;
  const LinkIndex index = LinkIndex::load(session, survey.scan);
  report.broken_links = index.broken();
  report.unread_links = index.cut_notes();
  report.links_of_renames = count_links_of(index, renamed);
}

Result<void> count_links_again(Session& session, Report& report) {
  if (report.links_mended == 0) return {};
  WS_LET(const Scan scan, walk_tree(session, true));
  report.broken_links = LinkIndex::load(session, scan).broken();
  return {};
}

Result<RelinkPlan> plan_kept_links(Session& session, const Survey& survey, const RunOptions& options) {
  if (session.config.links != LinksMode::keep || options.leaves_links || survey.plan.guard) return RelinkPlan{};
  links::Renames renamed = renames_of(survey.plan);
  if (session.knows_attachments()) {
    WS_LET(const AttachmentSurvey files, survey_attachments(session, survey, options));
    if (stops_run(files)) return RelinkPlan{};
    for (const Action& action : files.plan.actions) add_rename(action, renamed);
  }
  if (renamed.empty()) return RelinkPlan{};
  return plan_link_updates(session, survey.scan, renamed, options.dry_run ? IndexFile::leave : IndexFile::update);
}

Result<Survey> survey_with_links(Session& session, const RunOptions& options, std::size_t& mended) {
  mended = 0;
  WS_LET(Survey survey, ws::sync::survey(session, options, PullMode::store));
  WS_LET(const RelinkPlan kept, plan_kept_links(session, survey, options));
  if (kept.steps.empty()) return survey;
  WS_TRY(store_survey(session, survey));
  WS_LET(const DoneSteps done, carry_out_steps(session, kept.steps, kept.rows));
  for (const RelinkedNote& note : kept.told.notes) {
    const auto is_left = [&](const LeftAlone& each) { return each.path.text() == note.path; };
    if (std::ranges::none_of(done.left, is_left)) mended += note.links;
  }
  return ws::sync::survey(session, options, PullMode::store);
}

}  // namespace ws::sync
