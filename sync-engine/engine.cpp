#include "sync-engine/engine.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sync-engine/apply/apply.hpp"
#include "sync-engine/apply/collect_garbage.hpp"
#include "sync-engine/apply/journal.hpp"
#include "sync-engine/apply/replace_file.hpp"
#include "sync-engine/apply/restore.hpp"
#include "sync-engine/attachments/sync_attachments.hpp"
#include "sync-engine/attachments/take_back_attachments.hpp"
#include "sync-engine/binding/tree_lock.hpp"
#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/conflicts/close_conflicts.hpp"
#include "sync-engine/conflicts/conflict_markers.hpp"
#include "sync-engine/conflicts/decide.hpp"
#include "sync-engine/conflicts/local_conflicts.hpp"
#include "sync-engine/conflicts/refresh_conflict.hpp"
#include "sync-engine/publish/publish.hpp"
#include "sync-engine/reconcile/reconcile.hpp"
#include "sync-engine/reconcile/surroundings.hpp"
#include "sync-engine/survey/differences.hpp"
#include "sync-engine/survey/survey.hpp"
#include "sync-engine/survey/unavailable_texts.hpp"
#include "sync-engine/undo/take_back.hpp"

namespace ws::sync {
namespace {

void sort_by_path(std::vector<Row>& rows) {
  const auto by_path = [](const Row& a, const Row& b) { return a.action.path < b.action.path; };
  if (!std::is_sorted(rows.begin(), rows.end(), by_path)) std::stable_sort(rows.begin(), rows.end(), by_path);
}

/// The plan as rows, conflicts among them, in order of path. The actions are taken out of it: there may be many.
std::vector<Row> take_rows(Plan& plan) {
  std::vector<Row> rows;
  rows.reserve(plan.actions.size() + plan.conflicts.size());
  for (Action& action : plan.actions) rows.push_back({.action = std::move(action)});
  plan.actions = {};
  for (const Conflict& conflict : plan.conflicts) {
    rows.push_back({.action = {.kind = ActionKind::conflict,
                               .path = conflict.path,
                               .reason = reason_of(conflict),
                               .document = conflict.document}});
  }
  sort_by_path(rows);
  return rows;
}

/// What people are told once: a name when it comes or goes out, a lost state until a run has made a new one.
Result<std::vector<Remark>> remarks_of(Session& session, const Survey& survey) {
  const Plan& plan = survey.plan;
  std::vector<Remark> remarks;
  WS_LET(const bool remade, session.state.is_remade());
  if (remade) remarks.push_back({.word = Remark::Word::state_remade});
  for (const RelativePath& path : survey.same_revision) {
    remarks.push_back({.word = Remark::Word::same_revision, .path = path.string()});
  }
  for (const Action& action : plan.actions) {
    const bool new_name = action.kind == ActionKind::push_create || action.kind == ActionKind::push_move ||
                          action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_move ||
                          action.kind == ActionKind::adopt;
    if (new_name && is_unportable(action.path)) {
      remarks.push_back({.word = Remark::Word::unportable_name, .path = action.path.string()});
    }
  }
  return remarks;
}

Result<Report> report_of(Session& session, Survey& survey) {
  WS_LET(std::vector<Remark> remarks, remarks_of(session, survey));
  Report report{.source_id = session.tie.source_id,
                .base_revision = survey.revision_before,
                .revision = survey.revision,
                .rows = take_rows(survey.plan),
                .conflicts = survey.plan.conflicts,
                .skipped = std::move(survey.plan.skipped),
                .detached = std::move(survey.plan.detached),
                .guard = survey.plan.guard,
                .held_back = survey.plan.held,
                .not_included = survey.scan.not_included(),
                .remarks = std::move(remarks)};
  report.partial = survey.plan.partial;
  report.clean = report.rows.empty() && !report.guard && !report.partial;
  return report;
}

/// What was renamed here, and goes out so.
void add_rename(const Action& action, links::Renames& renamed) {
  if (action.kind == ActionKind::push_move && action.previous_path)
    renamed.emplace(action.previous_path->string(), action.path.string());
}

/// A look counts all links that lead nowhere. A run reads the notes only where it sees a rename: a first pull would
/// read each of them once more.
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
  report.links_of_renames = count_links_of(index, renamed);
}

/// Rows of conflicts that were decided, or would be, become what they come to.
class SettledRows {
 public:
  explicit SettledRows(std::vector<Row>& rows) : rows_(rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].action.kind == ActionKind::conflict)
        places_.emplace(key(rows[i].action.path, rows[i].action.document), i);
    }
  }

  void settle(const Conflict& conflict, Keep keep, Row::State state) {
    settled_.insert(key(conflict.path, conflict.document));
    const auto place = places_.find(key(conflict.path, conflict.document));
    if (place == places_.end()) return;
    Row& row = rows_[place->second];
    places_.erase(place);
    const auto kind = decided_as(conflict, keep);
    // One about a name has no row: what is decided of names is carried out by a plan of its own.
    if (!kind) {
      dropped_.insert(static_cast<std::size_t>(&row - rows_.data()));
      return;
    }
    row.action.kind = *kind;
    if (*kind == ActionKind::pull_move) {
      row.action.previous_path = conflict.path;
      row.action.path = conflict.remote->path;
    }
    row.action.reason = keep == Keep::local              ? "conflict, the local text wins"
                        : *kind == ActionKind::pull_move ? "conflict, the remote name wins"
                        : keep == Keep::remote           ? "conflict, the remote text wins"
                                                         : "conflict, the local text is kept beside it";
    row.state = state;
    row.error.reset();
  }

  bool has(const Conflict& conflict) const { return settled_.contains(key(conflict.path, conflict.document)); }

  void drop_rows() {
    if (dropped_.empty()) return;
    std::vector<Row> kept;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!dropped_.contains(i)) kept.push_back(std::move(rows_[i]));
    }
    rows_ = std::move(kept);
  }

 private:
  using Key = std::pair<RelativePath, DocumentId>;
  static Key key(const RelativePath& path, const DocumentId& document) { return {path, document}; }

  std::vector<Row>& rows_;
  std::map<Key, std::size_t> places_;  ///< of the rows that are conflicts
  std::set<Key> settled_;
  std::set<std::size_t> dropped_;
};

/// What a run would decide at once.
void foresee_decisions(Report& report, const RunOptions& options) {
  const auto& keep = options.on_conflict;
  if (!keep) return;
  SettledRows settled(report.rows);
  std::erase_if(report.conflicts, [&](const Conflict& conflict) {
    if (!decided_as(conflict, *keep)) return false;
    settled.settle(conflict, *keep, Row::State::planned);
    return true;
  });
}

/// Which paths and documents a report has rows about.
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

/// The rows that taking files back comes to on the service.
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

/// Whether a file that was skipped as a twin is none any more: what held its name left the disk just now.
bool frees_twin(const Report& report) {
  Surroundings freed;
  bool any = false;
  for (const Row& row : report.rows) {
    const Action& action = row.action;
    const bool leaves = action.kind == ActionKind::pull_delete || action.kind == ActionKind::pull_move;
    if (!leaves || row.state != Row::State::done) continue;
    freed.add(action.previous_path.value_or(action.path).twin_key());
    any = true;
  }
  return any && std::any_of(report.skipped.begin(), report.skipped.end(), [&](const Skipped& each) {
           const auto path = RelativePath::parse(each.path);
           return each.reason == Hindrance::twin && path && freed.touch(path->twin_key());
         });
}

bool is_unfinished(const Row& row) { return row.state != Row::State::done && row.action.kind != ActionKind::conflict; }

}  // namespace

struct SyncEngine::Impl {
  Session session;
  const Clock* clock;
  bool is_cache_old = false;                     ///< since conflicts were decided: refreshed once, at the end
  AttachmentSurvey attachments = {};             ///< as the last look at both sides found them
  std::vector<Row> finished = {};                ///< of a commit that an earlier command did not see the end of
  std::optional<UndoReport> finished_undo = {};  ///< the same of an undo

  /// What every command that writes does first. What a run that was cut off had begun belongs to its own operation, and
  /// so does what the same command does now.
  Result<TreeLock> begin(std::string_view kind) {
    using OperationStage = Operation::Stage;
    WS_LET(TreeLock lock, TreeLock::take(session.root, session.options.wait_lock));
    Operations operations = session.state.operations();
    WS_LET(const auto open, operations.find_at(OperationStage::open, OperationStage::open));
    WS_LET(const auto undoing, operations.find_at(OperationStage::undoing_on_disk, OperationStage::undoing_on_service));
    WS_TRY(go_on_with(open ? open : undoing, kind));
    WS_TRY(recover_steps(session));
    WS_LET(const std::optional<StagedCommit> staged, session.state.staged());
    if (staged && staged->under_way && session.remote != nullptr) {
      WS_TRY(commit_staged(session, {}, finished));
    }
    if (undoing) {
      WS_TRY(operations.go_on_with(*undoing));
      WS_TRY(finish_interrupted_undo(*undoing));
    }
    const bool is_rerun = open && open->kind == kind;
    if (open && !is_rerun) {
      WS_TRY(operations.go_on_with(*open));
      WS_TRY(close_operation());
    }
    if (undoing || (open && !is_rerun)) WS_TRY(go_on_with(is_rerun ? open : std::nullopt, kind));
    return lock;
  }

  Result<void> go_on_with(const std::optional<Operation>& known, std::string_view kind) {
    if (known) return session.state.operations().go_on_with(*known);
    WS_LET(Operation operation, new_operation(kind));
    session.state.operations().begin(std::move(operation));
    return {};
  }

  Result<Operation> new_operation(std::string_view kind) {
    WS_LET(const std::uint64_t revision, session.state.source_revision());
    const std::string& command = session.options.command;
    return Operation{.time = clock->now(),
                     .kind = std::string(kind),
                     .command = command.empty() ? "ws sync " + std::string(kind) : command,
                     .revision_before = revision};
  }

  Result<void> close_operation() {
    WS_LET(const std::uint64_t revision, session.state.source_revision());
    return session.state.operations().close(revision);
  }

  /// One that ended early stays open: the same command goes on with it.
  Result<void> end_operation(Report& report) {
    report.operation = session.state.operations().current();
    return report.ended_by || report.guard ? Result<void>() : close_operation();
  }

  Result<void> finish_interrupted_undo(const Operation& undoing) {
    // Steps of another kind than an undo: a rename with its links.
    if (undoing.undoes == 0) return finish_relinking(session, undoing);
    UndoReport result{.was_begun = true};
    WS_LET(const auto undone, session.state.operations().find(undoing.undoes));
    if (undone) result.undone = *undone;
    WS_LET(result.left, session.state.operations().undo_left(undoing.id));
    WS_TRY(carry_out_undo(undoing, result));
    if (result.report.ended_by) return fail(std::move(*result.report.ended_by));
    finished.insert(finished.end(), result.report.rows.begin(), result.report.rows.end());
    if (session.remote != nullptr) finished_undo = std::move(result);
    return {};
  }

  /// The journalled steps here, then a run about these files alone. Without the service the run is a later command's.
  Result<void> carry_out_undo(const Operation& undo, UndoReport& result) {
    Operations operations = session.state.operations();
    WS_LET(const std::vector<UndoStep> steps, operations.undo_steps(undo.id));
    if (undo.stage != Operation::Stage::undoing_on_service) {
      std::vector<UndoStep> of_texts = steps;
      const auto files = std::stable_partition(
          of_texts.begin(), of_texts.end(), [this](const UndoStep& step) { return !is_about_bytes(session, step); });
      const std::vector<UndoStep> of_bytes(files, of_texts.end());
      of_texts.erase(files, of_texts.end());
      WS_LET(std::vector<LeftAlone> left, take_back_here(session, of_texts));
      WS_LET(const std::vector<LeftAlone> left_of_bytes, take_attachments_back(session, of_bytes));
      left.insert(left.end(), left_of_bytes.begin(), left_of_bytes.end());
      result.left.insert(result.left.end(), left.begin(), left.end());
      WS_LET(sqlite::Transaction transaction, session.state.begin());
      WS_TRY(operations.put_undo_left(undo.id, left));
      WS_TRY(operations.set_stage(undo.id, Operation::Stage::undoing_on_service));
      WS_TRY(transaction.commit());
    }
    if (session.remote == nullptr) return {};
    const std::set<RelativePath> paths = paths_of(steps);
    RunOptions run{.message = "Take back run " + std::to_string(undo.undoes),
                   .only = [&paths](const RelativePath& path) { return paths.contains(path); }};
    WS_LET(result.report, rounds(run));
    Report& report = result.report;
    // The word was given for these deletes, not for a service that is empty or another one.
    if (report.guard && undo.may_delete && !report.guard->empty_listing && !report.guard->foreign_source) {
      run.allow_deletes = true;
      WS_LET(report, rounds(run));
    }
    if (session.knows_attachments()) WS_TRY(sync_files(run, AttachmentHalves::both, report));
    for (Row& row : report.rows) {
      if (is_push(row.action.kind)) row.action.reason = "taken back";
    }
    report.operation = undo.id;
    // What else differs was not asked for.
    report.partial = false;
    report.clean = !report.ended_by && !report.guard && report.conflicts.empty() && result.left.empty() &&
                   std::none_of(report.rows.begin(), report.rows.end(), is_unfinished);
    if (report.ended_by || report.guard) return {};
    WS_LET(sqlite::Transaction transaction, session.state.begin());
    WS_TRY(record_steps_here(steps, result));
    WS_TRY(operations.clear_undo(undo.id));
    WS_TRY(close_operation());
    return transaction.commit();
  }

  /// What was taken back before any run had told the service of it: the two sides agree again, so no run has a row
  /// about it.
  Result<void> record_steps_here(const std::vector<UndoStep>& steps, UndoReport& result) {
    std::set<RelativePath> told;
    for (const LeftAlone& each : result.left) told.insert(each.path);
    for (const Row& row : result.report.rows) {
      told.insert(row.action.path);
      if (row.action.previous_path) told.insert(*row.action.previous_path);
    }
    // An earlier call that was cut off has recorded what it sent, and this call's report has no rows about it.
    WS_LET(const std::vector<OperationRow> recorded,
           session.state.operations().rows(*session.state.operations().current()));
    for (const OperationRow& row : recorded) {
      if (row.before) told.insert(row.before->path);
      if (row.after) told.insert(row.after->path);
    }
    for (const UndoStep& step : steps) {
      const RelativePath& path = step.to ? *step.to : *step.from;
      const bool is_known = !step.from || !step.seen_blob.empty();
      const bool is_told = told.contains(path) || (step.from && told.contains(*step.from));
      if (is_about_bytes(session, step) || is_told || !is_known) continue;
      const bool moves = step.from && step.to && step.from != step.to;
      const ActionKind kind = moves        ? ActionKind::pull_move
                              : !step.to   ? ActionKind::pull_delete
                              : !step.from ? ActionKind::pull_create
                                           : ActionKind::pull_update;
      Row row{.action = {.kind = kind, .path = path, .reason = "taken back"}, .state = Row::State::done};
      if (moves) row.action.previous_path = step.from;
      WS_LET(const std::optional<KnownDocument> known, session.state.find_base(path));
      if (known) row.action.document = known->document;
      OperationRow changed{.document = row.action.document, .ways = static_cast<std::uint8_t>(Way::restored)};
      if (step.from) changed.before = Version{.path = *step.from, .hash = *step.seen, .blob = step.seen_blob};
      if (step.to) {
        const bool is_same = step.result_blob.empty();
        changed.after =
            Version{.path = *step.to, .hash = *step.result, .blob = is_same ? step.seen_blob : step.result_blob};
      }
      WS_TRY(session.state.operations().record(changed));
      result.report.rows.push_back(std::move(row));
    }
    sort_by_path(result.report.rows);
    return {};
  }

  /// Whether this is the very undo that an earlier call had begun.
  static bool is_same(const UndoReport& finished, const UndoOptions& options) {
    return options.operation ? *options.operation == finished.undone.id : (finished.undone.undoes != 0) == options.redo;
  }

  Result<UndoReport> undo(const UndoOptions& options) {
    if (finished_undo && is_same(*finished_undo, options)) {
      finished.clear();
      return std::move(*finished_undo);
    }
    UndoReport result;
    WS_LET(result.undone, find_operation(session.state, options));
    WS_LET(std::vector<OperationRow> rows, session.state.operations().rows(result.undone.id));
    const auto files = std::stable_partition(
        rows.begin(), rows.end(), [this](const OperationRow& row) { return !is_about_bytes(session, row); });
    const std::vector<OperationRow> of_files(files, rows.end());
    rows.erase(files, rows.end());
    WS_LET(PlannedUndo planned, look_and_plan(session, std::move(rows), options));
    WS_LET(result.report, report_of(session, planned.survey));
    if (!planned.is_stopped) {
      plan_attachments_back(session, of_files, options, planned.undo);
      foresee_attachments(session, planned.undo.steps, result.report);
    }
    result.left = planned.undo.left;
    result.anew = planned.undo.anew;
    if (options.dry_run || planned.is_stopped || planned.undo.steps.empty() || result.report.guard) {
      result.report.clean =
          result.report.rows.empty() && result.left.empty() && !result.report.guard && !planned.is_stopped;
      return result;
    }
    WS_TRY(session.history.flush());
    WS_LET(Operation undo, new_operation(options.redo ? "redo" : "undo"));
    undo.undoes = result.undone.id;
    undo.is_partial = planned.undo.is_partial;
    undo.may_delete = options.allow_deletes;
    Operations operations = session.state.operations();
    operations.begin(undo);
    WS_LET(sqlite::Transaction transaction, session.state.begin());
    WS_TRY(operations.put_undo(planned.undo.steps));
    WS_TRY(operations.put_undo_left(*operations.current(), planned.undo.left));
    WS_TRY(transaction.commit());
    undo.id = *operations.current();
    undo.stage = Operation::Stage::undoing_on_disk;
    WS_TRY(carry_out_undo(undo, result));
    tell_finished(result.report);
    return result;
  }

  /// Pull, apply, push, commit, and again where what was decided or learnt needs a plan of its own.
  Result<Report> rounds(const RunOptions& options) {
    bool another = false;
    WS_LET(Report report, round(options, another));
    // What was decided about names is carried out by a plan of its own. What that one meets again cannot be decided so.
    RunOptions next = options;
    for (const bool last : {false, true}) {
      if (!another || report.ended_by) return report;
      if (last) next.on_conflict.reset();
      auto rest = round(next, another);
      if (!rest) {
        report.ended_by = std::move(rest).error();
        return report;
      }
      rest->base_revision = report.base_revision;
      // What is still a conflict is one of the later plan too, and what failed is tried again by it.
      const RowsAbout later(*rest);
      std::erase_if(report.rows, [&](const Row& row) {
        return row.action.kind == ActionKind::conflict || (row.state == Row::State::failed && later.has(row));
      });
      rest->rows.insert(rest->rows.begin(), report.rows.begin(), report.rows.end());
      sort_by_path(rest->rows);
      report = std::move(*rest);
    }
    return report;
  }

  /// What was published first belongs to the report too. A conflict that it met is one of the new plan.
  void tell_finished(Report& report) {
    std::erase_if(finished, [](const Row& row) { return row.action.kind == ActionKind::conflict; });
    report.rows.insert(report.rows.begin(), finished.begin(), finished.end());
    finished.clear();
  }

  /// Those that are open now: also one whose file is out of sight, of which the plan says nothing.
  Result<void> list_conflicts(Report& report) {
    WS_LET(std::vector<Conflict> recorded, session.state.conflicts());
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

  /// The report's last word: what is open now, and whether anything is left to do.
  Result<void> close_report(Report& report) {
    refresh_cache(session);
    WS_LET(const bool remade, session.state.is_remade());
    if (remade && !report.ended_by) WS_TRY(session.state.set_remade(false));
    WS_TRY(list_conflicts(report));
    WS_LET(const std::uint64_t revision, session.state.source_revision());
    report.revision = std::max(report.revision, revision);
    report.clean = !report.ended_by && !report.guard && !report.partial && report.conflicts.empty() &&
                   std::none_of(report.rows.begin(), report.rows.end(), is_unfinished);
    return {};
  }

  /// After the notes: what they show goes where they went. Where notes came or went both sides are looked at again.
  Result<void> sync_files(const RunOptions& options, AttachmentHalves halves, Report& report) {
    if (report.guard || report.ended_by) {
      add_to_report(attachments, report);
      return {};
    }
    const bool any_done =
        std::ranges::any_of(report.rows, [](const Row& row) { return row.state == Row::State::done; });
    if (any_done) WS_TRY(look_at_files(options));
    WS_TRY(sync_attachments(session, *clock, std::move(attachments), halves, report));
    if (!options.on_conflict || halves == AttachmentHalves::here || report.ended_by) return {};
    return decide_files(options, report);
  }

  Result<void> look_at_files(RunOptions options) {
    options.offline = true;
    WS_LET(const Survey now, ws::sync::survey(session, options, Pulled::look_at));
    WS_LET(attachments, survey_attachments(session, now, options));
    return {};
  }

  /// Decides what the run met of attachments, and carries it out.
  Result<void> decide_files(RunOptions options, Report& report) {
    bool any = false;
    for (const Conflict& conflict : std::vector<Conflict>(report.conflicts)) {
      if (conflict.kind != ConflictKind::attachment || (options.only && !options.only(conflict.path))) continue;
      if (!decide_attachment(session, *clock, conflict.path, *options.on_conflict)) continue;
      any = true;
      std::erase_if(report.rows, [&](const Row& row) {
        return row.action.attachment && row.action.kind == ActionKind::conflict && row.action.path == conflict.path;
      });
      std::erase_if(report.conflicts, [&](const Conflict& each) { return each.id == conflict.id; });
    }
    if (!any) return {};
    WS_TRY(look_at_files(options));
    report.clean = true;
    WS_TRY(sync_attachments(session, *clock, std::move(attachments), AttachmentHalves::both, report));
    report.clean = report.clean && report.conflicts.empty() && std::ranges::none_of(report.rows, is_unfinished);
    return {};
  }

  /// The guard stops a call before its first change; nothing to do needs no second look at the disk.
  static bool is_over(const Report& report, const Survey& survey) {
    return report.guard || (report.rows.empty() && survey.plan.settled.empty());
  }

  /// `links: keep`: the links to what was renamed here are edited, and that is sent with the renames.
  Result<std::size_t> mend_links(const Survey& survey, const RunOptions& options) {
    if (session.config.links != LinksMode::keep || survey.plan.guard) return 0;
    links::Renames renamed = renames_of(survey.plan);
    if (session.knows_attachments()) {
      WS_LET(const AttachmentSurvey files, survey_attachments(session, survey, options));
      for (const Action& action : files.plan.actions) add_rename(action, renamed);
    }
    if (renamed.empty()) return 0;
    WS_LET(const RelinkPlan plan, plan_mending(session, survey.scan, renamed));
    if (plan.steps.empty()) return 0;
    WS_LET(SafeWriter writer, SafeWriter::open(session.root));
    std::size_t edited = 0;
    for (const RelinkedNote& note : plan.told.notes) {
      WS_LET(const RelativePath path, RelativePath::parse(note.path));
      const auto done = replace_file(session, writer, path, note.before, note.after);
      if (!done && done.error().kind != Failure::Kind::conflict) return fail(done.error());
      if (done) edited += note.links;
    }
    return edited;
  }

  enum class Links { leave, mend };
  Result<Report> pull_half(const RunOptions& options, Survey& survey, Links links = Links::leave) {
    WS_LET(survey, ws::sync::survey(session, options, Pulled::keep));
    std::size_t mended = 0;
    if (links == Links::mend) {
      WS_LET(mended, mend_links(survey, options));
      if (mended > 0) {
        WS_LET(survey, ws::sync::survey(session, options, Pulled::keep));
      }
    }
    WS_TRY(close_settled_conflicts(session, survey, options));
    WS_LET(Report report, report_of(session, survey));
    WS_LET(attachments, survey_attachments(session, survey, options));
    count_links(session, survey, attachments, options, false, report);
    if (attachments.guard && !attachments.held_deletes) report.guard = attachments.guard;
    report.links_mended = mended;
    if (!is_over(report, survey)) {
      if (auto applied = apply_here(session, survey, report.rows); !applied) report.ended_by = applied.error();
    }
    if (report.guard) return report;
    const std::vector<Row> left_out = rows_of_left_out(survey);
    report.rows.insert(report.rows.end(), left_out.begin(), left_out.end());
    if (!is_over(report, survey)) return report;
    WS_TRY(note_files(session, survey));  // the run before may have ended before it could
    WS_TRY(list_conflicts(report));
    report.clean = report.clean && report.conflicts.empty();
    return report;
  }

  /// Decides what a run met; true where another round is needed to carry it out.
  Result<bool> resolve_open(const RunOptions& options, Report& report) {
    const auto& keep = options.on_conflict;
    if (!keep) return false;
    bool another_round = false;
    WS_LET(std::vector<Conflict> open, session.state.conflicts());
    std::vector<Choice> choices;
    for (Conflict& conflict : open) {
      // A service that went back is no conflict among others: that takes a word of its own.
      if (conflict.kind == ConflictKind::rewound || (options.only && !options.only(conflict.path))) continue;
      choices.push_back({.conflict = std::move(conflict), .keep = *keep});
    }
    const std::vector<Result<void>> decided = decide_conflicts(session, choices);
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
      another_round =
          another_round || is_about_place(conflict) || *keep == Keep::both || is_elsewhere_there || conflict.here_only;
      settled.settle(conflict, *keep, Row::State::done);
    }
    settled.drop_rows();
    std::erase_if(report.conflicts, [&](const Conflict& each) { return settled.has(each); });
    return ended_by ? Result<bool>(fail(std::move(*ended_by))) : another_round;
  }

  /// Pull, apply, push, commit, once. What ends it early is in the report.
  Result<Report> round(const RunOptions& options, bool& another) {
    another = false;
    session.pulls_again = false;
    Survey survey;
    WS_LET(Report report, pull_half(options, survey, Links::mend));
    if (is_over(report, survey)) {
      if (report.guard) return report;
      // Both sides are in step: what an earlier call staged is of no use to anybody.
      if (!report.partial) WS_TRY(session.state.clear_staged());
      return report;
    }
    const auto publish = [&]() -> Result<void> {
      WS_TRY(publish_changes(session, survey, options.message, report.rows));
      WS_TRY(keep_local_conflicts(session, survey, report.rows));
      WS_LET(another, resolve_open(options, report));
      return {};
    };
    if (!report.ended_by) {
      if (auto published = publish(); !published) report.ended_by = published.error();
    }
    WS_TRY(close_report(report));
    another = another || (!report.ended_by && (frees_twin(report) || session.pulls_again));
    return report;
  }
};

SyncEngine::SyncEngine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SyncEngine::SyncEngine(SyncEngine&&) noexcept = default;
SyncEngine& SyncEngine::operator=(SyncEngine&&) noexcept = default;
SyncEngine::~SyncEngine() {
  if (!impl_ || !impl_->is_cache_old) return;
  if (const auto lock = TreeLock::take(impl_->session.root, std::chrono::milliseconds(0)))
    refresh_cache(impl_->session);
}

Result<SyncEngine> SyncEngine::open(const std::filesystem::path& root,
                                    Remote* remote,
                                    const Clock& clock,
                                    EngineOptions options) {
  WS_LET(RootFolder folder, RootFolder::open(root));
  WS_LET(WsFolder ws, WsFolder::open(folder, options.trusted));
  WS_LET(Tie tie, read_tie(ws));
  WS_LET(const TreeConfig config, read_config(ws));
  FileKinds kinds = FileKinds::with(config.include);
  const bool any_state = ws.has("state.db") && !ws.is_empty_file("state.db");
  const bool lost = !any_state && ws.has("history.git");
  WS_LET(StateStore state, StateStore::open(ws.through("state.db")));
  if (lost) WS_TRY(state.set_remade(true));
  History history(ws.through("history.git"), clock, options.user);
  return SyncEngine(std::make_unique<Impl>(Impl{.session = Session{.root = std::move(folder),
                                                                   .ws = std::move(ws),
                                                                   .tie = std::move(tie),
                                                                   .config = config,
                                                                   .kinds = std::move(kinds),
                                                                   .state = std::move(state),
                                                                   .history = std::move(history),
                                                                   .remote = remote,
                                                                   .options = std::move(options)},
                                                .clock = &clock}));
}

Result<Relinked> SyncEngine::move(const RelativePath& from, const RelativePath& to, bool dry_run) {
  if (dry_run) {
    WS_LET(RelinkPlan plan, plan_move(impl_->session, from, to));
    return std::move(plan.told);
  }
  WS_LET(const TreeLock lock, impl_->begin("mv"));
  WS_LET(RelinkPlan plan, plan_move(impl_->session, from, to));
  WS_TRY(carry_out(impl_->session, plan));
  refresh_cache(impl_->session);
  return std::move(plan.told);
}

Result<Relinked> SyncEngine::fix_links(const FixOptions& options, bool dry_run) {
  if (dry_run) {
    WS_LET(RelinkPlan plan, plan_fix(impl_->session, options));
    return std::move(plan.told);
  }
  WS_LET(const TreeLock lock, impl_->begin("links"));
  WS_LET(RelinkPlan plan, plan_fix(impl_->session, options));
  WS_TRY(carry_out(impl_->session, plan));
  refresh_cache(impl_->session);
  return std::move(plan.told);
}

Result<std::vector<BrokenLink>> SyncEngine::broken_links(const std::string& folder) {
  return find_broken_links(impl_->session, folder);
}

const Tie& SyncEngine::tie() const { return impl_->session.tie; }

Result<Report> SyncEngine::status(const RunOptions& options) {
  WS_LET(Survey survey, ws::sync::survey(impl_->session, options, Pulled::look_at));
  WS_LET(Report report, report_of(impl_->session, survey));
  RunOptions looking = options;
  looking.looks_only = true;
  WS_LET(const AttachmentSurvey files, survey_attachments(impl_->session, survey, looking));
  count_links(impl_->session, survey, files, options, true, report);
  const std::vector<Row> left_out = rows_of_left_out(survey);
  report.rows.insert(report.rows.end(), left_out.begin(), left_out.end());
  std::set<std::string> told;
  for (const Conflict& conflict : report.conflicts) told.insert(conflict.id);
  const OutOfSight out_of_sight(survey);
  for (const Conflict& known : survey.known_conflicts) {
    if (!told.contains(known.id) && out_of_sight.hides(known)) report.conflicts.push_back(known);
  }
  report.clean = report.clean && left_out.empty() && report.conflicts.empty();
  foresee_decisions(report, options);
  WS_TRY(mark_staged(impl_->session, report.rows));
  add_to_report(files, report);
  return report;
}

Result<Report> SyncEngine::run(const RunOptions& options) {
  WS_LET(const TreeLock lock, impl_->begin("run"));
  WS_LET(Report report, impl_->rounds(options));
  WS_TRY(impl_->sync_files(options, AttachmentHalves::both, report));
  impl_->tell_finished(report);
  WS_TRY(impl_->end_operation(report));
  return report;
}

Result<Report> SyncEngine::pull(const RunOptions& options) {
  WS_LET(const TreeLock lock, impl_->begin("pull"));
  Survey survey;
  WS_LET(Report report, impl_->pull_half(options, survey));
  if (!impl_->is_over(report, survey)) {
    if (!report.ended_by) WS_TRY(keep_local_conflicts(impl_->session, survey, report.rows));
    const auto pushes = std::erase_if(report.rows, [](const Row& row) { return is_push(row.action.kind); });
    report.partial = report.partial || pushes > 0;
    WS_TRY(impl_->close_report(report));
  }
  WS_TRY(impl_->sync_files(options, AttachmentHalves::here, report));
  impl_->tell_finished(report);
  WS_TRY(impl_->end_operation(report));
  return report;
}

Result<Report> SyncEngine::push(const RunOptions& options) {
  WS_LET(const TreeLock lock, impl_->begin("push"));
  WS_LET(Survey survey, ws::sync::survey(impl_->session, options, Pulled::keep));
  WS_LET(Report report, report_of(impl_->session, survey));
  // What must be done here first is done by a pull: a file that steps aside, and a text that comes for a document that
  // was moved here, as the move would carry the revision of a text that nobody has here.
  std::set<DocumentId> waiting;
  for (const Row& row : report.rows) {
    if (!is_push(row.action.kind) && row.action.kind != ActionKind::conflict) waiting.insert(row.action.document);
  }
  std::erase_if(report.rows, [&](const Row& row) {
    const bool steps_aside = row.action.kind == ActionKind::push_create && row.action.previous_path;
    return steps_aside || (row.action.kind != ActionKind::conflict && waiting.contains(row.action.document));
  });
  if (!report.guard) {
    if (auto staged = stage_changes(impl_->session, survey, report.rows); !staged) report.ended_by = staged.error();
  }
  impl_->tell_finished(report);
  return report;
}

Result<Report> SyncEngine::commit(const RunOptions& options) {
  if (options.dry_run) {
    Report planned{.source_id = impl_->session.tie.source_id};
    WS_LET(planned.rows, staged_rows(impl_->session, options.only));
    planned.clean = planned.rows.empty();
    return planned;
  }
  WS_LET(const TreeLock lock, impl_->begin("commit"));
  Report report{.source_id = impl_->session.tie.source_id};
  WS_LET(report.base_revision, impl_->session.state.source_revision());
  report.revision = report.base_revision;
  if (auto committed = commit_staged(impl_->session, options.message, report.rows, options.only); !committed) {
    report.ended_by = committed.error();
  }
  WS_TRY(impl_->close_report(report));
  impl_->tell_finished(report);
  WS_TRY(impl_->end_operation(report));
  return report;
}

Result<std::vector<Difference>> SyncEngine::diff(const RunOptions& options) {
  WS_LET(const Survey survey, ws::sync::survey(impl_->session, options, Pulled::look_at));
  const auto everything = [](const RelativePath&) { return true; };
  return differences(impl_->session, survey, options.only ? options.only : everything);
}

Result<std::vector<HistoryState>> SyncEngine::log(const LogOptions& options) const {
  WS_LET(HistoryLog log, HistoryLog::open(impl_->session.own("history.git")));
  if (!options.path) return log.states(options);
  WS_LET(std::vector<HistoryState> states, log.states(options));
  WS_LET(const std::vector<HistoryState> of_file, attachment_states(impl_->session, *options.path));
  states.insert(states.end(), of_file.begin(), of_file.end());
  std::ranges::stable_sort(states, std::greater<>(), &HistoryState::time);
  if (options.limit != 0 && states.size() > options.limit) states.resize(options.limit);
  return states;
}

Result<std::string> SyncEngine::text_in(std::string_view state, const RelativePath& path) const {
  WS_LET(HistoryLog log, HistoryLog::open(impl_->session.own("history.git")));
  return log.text_in(state, path);
}

Result<std::optional<std::string>> SyncEngine::text_here(const RelativePath& path) const {
  WS_LET(const SafeWriter writer, SafeWriter::open(impl_->session.root));
  return read_if_there(writer, path);
}

Result<std::vector<BlamedLine>> SyncEngine::blame(const RelativePath& path) {
  Session& session = impl_->session;
  WS_LET(const std::optional<std::string> text, text_here(path));
  if (!text) return fail(Failure::Kind::not_found, "there is no file " + path.string());
  WS_LET(HistoryLog log, HistoryLog::open(session.own("history.git")));
  WS_LET(std::vector<BlamedLine> lines, log.blame(path, *text));
  std::map<git::ObjectId, std::optional<std::uint64_t>> revisions;
  for (BlamedLine& line : lines) {
    if (!line.commit) continue;
    const auto [known, is_new] = revisions.try_emplace(line.blob);
    if (is_new) {
      WS_LET(known->second, session.state.operations().revision_of(line.blob));
    }
    line.revision = known->second;
  }
  return lines;
}

Result<Restored> SyncEngine::restore(const RelativePath& path, const std::optional<std::string>& at, bool dry_run) {
  const auto carry_out = [&]() -> Result<Restored> {
    WS_LET(const std::vector<HistoryState> of_file, attachment_states(impl_->session, path));
    return of_file.empty() ? ws::sync::restore(impl_->session, path, at, dry_run)
                           : restore_attachment(impl_->session, *impl_->clock, path, at, dry_run);
  };
  if (dry_run) return carry_out();
  WS_LET(const TreeLock lock, impl_->begin("restore"));
  WS_LET(Restored restored, carry_out());
  WS_TRY(impl_->close_operation());
  return restored;
}

Result<std::vector<ListedAttachment>> SyncEngine::attachments() {
  const RunOptions options{.offline = true, .looks_only = true};
  WS_LET(const Survey survey, ws::sync::survey(impl_->session, options, Pulled::look_at));
  WS_LET(const AttachmentSurvey found, survey_attachments(impl_->session, survey, options));
  return list_attachments(found);
}

Result<std::vector<OperationDetails>> SyncEngine::operations(std::size_t limit) {
  WS_LET(const std::vector<Operation> all, impl_->session.state.operations().list());
  std::vector<OperationDetails> found;
  for (const Operation& each : all) {
    if (limit != 0 && found.size() == limit) break;
    OperationDetails details{.operation = each, .taken_back = is_taken_back(all, each.id)};
    WS_LET(details.rows, impl_->session.state.operations().rows(each.id));
    found.push_back(std::move(details));
  }
  return found;
}

Result<OperationDetails> SyncEngine::operation(std::uint64_t id) {
  WS_LET(const std::vector<Operation> all, impl_->session.state.operations().list());
  OperationDetails details;
  WS_LET(details.operation, find_operation(impl_->session.state, {.operation = id}));
  WS_LET(details.rows, impl_->session.state.operations().rows(id));
  details.taken_back = is_taken_back(all, id);
  return details;
}

Result<std::string> SyncEngine::text(const git::ObjectId& blob) { return impl_->session.history.text(blob); }

Result<UndoReport> SyncEngine::undo(const UndoOptions& options) {
  if (options.dry_run) return impl_->undo(options);
  WS_LET(const TreeLock lock, impl_->begin(options.redo ? "redo" : "undo"));
  if (impl_->session.remote == nullptr) return fail(Failure::Kind::usage, "this needs the service", "log in");
  return impl_->undo(options);
}

Result<GcReport> SyncEngine::gc(const GcOptions& options) {
  if (options.dry_run) return collect_garbage(impl_->session, options);
  WS_LET(const TreeLock lock, impl_->begin("gc"));
  return collect_garbage(impl_->session, options);
}

Result<std::vector<Conflict>> SyncEngine::conflicts() const {
  WS_LET(std::vector<Conflict> open, impl_->session.state.conflicts());
  if (!impl_->session.knows_attachments()) return open;
  WS_LET(AttachmentStore* const store, impl_->session.attachments());
  WS_LET(const auto files, store->conflicts());
  for (const auto& [path, conflict] : files) open.push_back(conflict_of(path, conflict));
  return open;
}

Result<std::optional<OpenAttachment>> SyncEngine::open_attachment(const RelativePath& path) const {
  if (!impl_->session.knows_attachments()) return std::optional<OpenAttachment>{};
  WS_LET(AttachmentStore* const store, impl_->session.attachments());
  WS_LET(const auto open, store->conflicts());
  const auto found = open.find(path);
  return found == open.end() ? std::optional<OpenAttachment>{} : std::optional(found->second);
}

Result<ConflictTexts> SyncEngine::texts(const Conflict& conflict) const {
  ThreeTexts texts = read_conflict_texts(impl_->session.root, conflict.id);
  return ConflictTexts{.conflict = conflict,
                       .base = std::move(texts.base),
                       .local = std::move(texts.local),
                       .remote = std::move(texts.remote),
                       .merge_later = impl_->session.config.merge_later};
}

Result<void> SyncEngine::resolve(const Conflict& conflict, Keep keep, const std::optional<std::string>& merged) {
  WS_LET(std::vector<Result<void>> decided, resolve({{.conflict = conflict, .keep = keep, .merged = merged}}));
  return std::move(decided.front());
}

Result<std::vector<Result<void>>> SyncEngine::resolve(const std::vector<Choice>& choices) {
  WS_LET(const TreeLock lock, impl_->begin("resolve"));
  if (impl_->session.remote == nullptr) return fail(Failure::Kind::usage, "this needs the service", "log in");
  std::vector<Choice> documents;
  std::copy_if(choices.begin(), choices.end(), std::back_inserter(documents), [](const Choice& each) {
    return each.conflict.kind != ConflictKind::attachment;
  });
  std::vector<Result<void>> of_documents = decide_conflicts(impl_->session, documents);
  std::vector<Result<void>> decided;
  std::size_t next = 0;
  for (const Choice& each : choices) {
    const bool is_file = each.conflict.kind == ConflictKind::attachment;
    decided.push_back(is_file ? decide_attachment(impl_->session, *impl_->clock, each.conflict.path, each.keep)
                              : std::move(of_documents[next++]));
  }
  WS_TRY(impl_->close_operation());
  impl_->is_cache_old =
      impl_->is_cache_old || std::ranges::any_of(decided, [](const auto& each) { return bool(each); });
  return decided;
}

Result<std::optional<Conflict>> SyncEngine::look_again(const Conflict& conflict) {
  if (conflict.kind == ConflictKind::attachment) return std::optional(conflict);
  WS_LET(const TreeLock lock, impl_->begin("resolve"));
  return ws::sync::look_again(impl_->session, conflict);
}

Result<void> SyncEngine::write_markers(const Conflict& conflict) {
  WS_LET(const TreeLock lock, impl_->begin("resolve"));
  return ws::sync::write_markers(impl_->session, conflict);
}

Result<std::string> SyncEngine::merged_text(const Conflict& conflict) {
  return ws::sync::merged_text(impl_->session, conflict);
}

}  // namespace ws::sync
