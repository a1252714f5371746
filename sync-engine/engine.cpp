#include "sync-engine/engine.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sync-engine/attachments/blob_folder.hpp"
#include "sync-engine/attachments/decide_attachment.hpp"
#include "sync-engine/attachments/file_differences.hpp"
#include "sync-engine/attachments/staged_files.hpp"
#include "sync-engine/attachments/sync_attachments.hpp"
#include "sync-engine/attachments/tell_attachments.hpp"
#include "sync-engine/binding/ws_folder.hpp"
#include "sync-engine/changes/collect_garbage.hpp"
#include "sync-engine/changes/edit_files.hpp"
#include "sync-engine/changes/replace_file.hpp"
#include "sync-engine/conflict_store/conflict_texts.hpp"
#include "sync-engine/conflicts/decide.hpp"
#include "sync-engine/conflicts/open_conflicts.hpp"
#include "sync-engine/conflicts/recorded_conflict.hpp"
#include "sync-engine/conflicts/rewound_documents.hpp"
#include "sync-engine/publish/publish.hpp"
#include "sync-engine/run/begin.hpp"
#include "sync-engine/run/report_rows.hpp"
#include "sync-engine/run/round.hpp"
#include "sync-engine/run/run_undo.hpp"
#include "sync-engine/survey/documents_here.hpp"
#include "sync-engine/survey/renamed_conflicts.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

namespace {

/// Writes notes outside of a run, as one operation.
template <class Write>
auto while_changing_notes(RunContext& context, Write write) -> decltype(write()) {
  return while_writing_notes(context, [&]() -> decltype(write()) {
    auto written = write();
    if (!written) return written;
    auto closed = close_operation(context);
    if (!closed) return fail(maybe_made(std::move(closed).error()));
    return written;
  });
}

/// Plans, and carries the plan out as an operation of this kind unless it is a dry run.
template <class MakePlan, class MarksFollow>
Result<Relinked> relink(
    RunContext& context, std::string_view kind, bool dry_run, MakePlan make_plan, MarksFollow marks_follow) {
  std::optional<TreeLock> lock;
  if (!dry_run) {
    WS_LET(lock, begin(context, kind));
  }
  WS_LET(RelinkPlan plan, make_plan());
  if (!dry_run) {
    const auto done = while_changing_notes(context, [&]() -> Result<void> {
      WS_TRY(carry_marks(context.session, marks_follow(plan)));
      auto made = carry_out_steps(context.session, plan.steps, plan.rows);
      return made ? Result<void>() : fail(std::move(made).error());
    });
    WS_TRY(done);
    refresh_cache(context.session);
  }
  return std::move(plan.told);
}

/// Who works here, named as the service names the same account to everybody else.
Author local_author(const TreeBinding& binding, const std::string& user) {
  if (!binding.account || binding.account->name.empty()) return {.name = user, .id = user};
  const Account& account = *binding.account;
  return {.name = account.signs_as.empty() ? account.name : account.signs_as, .id = account.id};
}

Result<Report> pull_here(RunContext& context, RunOptions options) {
  options.half = Half::here;
  WS_LET(Report report, pull_round(context, options));
  WS_TRY(sync_files(context, options, report));
  add_finished(context, report);
  WS_TRY(count_links_again(context.session, report));
  WS_TRY(end_operation(context, report));
  return report;
}

}  // namespace

SyncEngine::SyncEngine(std::unique_ptr<RunContext> context) : context_(std::move(context)) {}
SyncEngine::SyncEngine(SyncEngine&&) noexcept = default;
SyncEngine& SyncEngine::operator=(SyncEngine&&) noexcept = default;
SyncEngine::~SyncEngine() {
  if (!context_ || !context_->is_cache_old) return;
  if (const auto lock = TreeLock::take(context_->session.root, std::chrono::milliseconds(0)))
    refresh_cache(context_->session);
}

Result<SyncEngine> SyncEngine::open(const std::filesystem::path& root,
                                    Remote* remote,
                                    const Clock& clock,
                                    EngineOptions options) {
  WS_LET(RootFolder folder, RootFolder::open(root));
  WS_LET(WsFolder ws, WsFolder::open(folder, options.trusted));
  WS_LET(TreeBinding binding, read_binding(ws));
  WS_LET(const TreeConfig config, read_config(ws));
  FileKinds kinds = FileKinds::with(config.include);
  FileKinds excluded = FileKinds::with(config.attachments_exclude);
  const bool any_state = ws.has("state.db") && !ws.is_empty_file("state.db");
  const bool lost = !any_state && ws.has("history.git");
  WS_LET(StateStore state, StateStore::open(ws.through("state.db")));
  if (lost) WS_TRY(state.set_remade(true));
  History history(ws.through("history.git"), clock, local_author(binding, options.user));
  return SyncEngine(std::make_unique<RunContext>(RunContext{.session = Session{.root = std::move(folder),
                                                                               .ws = std::move(ws),
                                                                               .binding = std::move(binding),
                                                                               .config = config,
                                                                               .kinds = std::move(kinds),
                                                                               .excluded = std::move(excluded),
                                                                               .state = std::move(state),
                                                                               .history = std::move(history),
                                                                               .remote = remote,
                                                                               .options = std::move(options)},
                                                            .clock = &clock}));
}

Result<Relinked> SyncEngine::move(const RelativePath& from, const RelativePath& to, bool dry_run) {
  return relink(
      *context_,
      "mv",
      dry_run,
      [&] { return plan_move(context_->session, from, to); },
      [](const RelinkPlan& plan) { return plan.told.moved; });
}

Result<Relinked> SyncEngine::fix_links(const FixOptions& options, bool dry_run) {
  return relink(
      *context_,
      "links",
      dry_run,
      [&] { return plan_fix(context_->session, options); },
      [&](const RelinkPlan& /*plan*/) { return options.renames; });
}

Result<CheckedLinks> SyncEngine::broken_links(const std::string& place) {
  return find_broken_links(context_->session, place);
}

const TreeBinding& SyncEngine::binding() const { return context_->session.binding; }

Result<Report> SyncEngine::status(const RunOptions& options) { return status_of(context_->session, options); }

Result<std::vector<KnownDocument>> SyncEngine::documents() {
  WS_LET(auto base, context_->session.state.base());
  std::vector<KnownDocument> documents;
  for (auto& [document, row] : base) documents.push_back({.document = document, .row = std::move(row)});
  return documents;
}

Result<std::optional<CleanStatus>> SyncEngine::clean_status() { return make_clean_status(context_->session); }

Result<Report> SyncEngine::run(const RunOptions& options) {
  WS_LET(const TreeLock lock, begin(*context_, "run"));
  WS_LET(Report report, run_rounds(*context_, options));
  WS_TRY(sync_files(*context_, options, report));
  add_finished(*context_, report);
  WS_TRY(count_links_again(context_->session, report));
  WS_TRY(end_operation(*context_, report));
  return report;
}

Result<Report> SyncEngine::pull(const RunOptions& options) {
  WS_LET(const TreeLock lock, begin(*context_, "pull"));
  return pull_here(*context_, options);
}

namespace {

/// A push of a part adds to what is staged.
Result<RunOptions> with_what_is_staged(Session& session, RunOptions options) {
  if (!options.only) return options;
  WS_LET(const std::vector<Row> rows, staged_rows(session, {}));
  WS_LET(const StagedFiles files, StagedFiles::load(session));
  std::set<RelativePath> staged = files.paths();
  for (const Row& row : rows) staged.insert(row.action.path);
  options.only = [only = std::move(options.only), staged = std::move(staged)](const RelativePath& path) {
    return only(path) || staged.contains(path);
  };
  return options;
}

}  // namespace

Result<Report> SyncEngine::push(const RunOptions& asked) {
  WS_LET(const TreeLock lock, begin(*context_, "push"));
  WS_LET(const RunOptions options, with_what_is_staged(context_->session, asked));
  std::size_t mended = 0;
  WS_LET(Survey survey, survey_with_links(context_->session, options, mended));
  WS_LET(AttachmentSurvey files, survey_attachments(context_->session, survey, options));
  WS_TRY(store_survey(context_->session, survey));
  // What must be done here first is done by a pull: a file that steps aside, and a text that comes for a document that
  // was moved here, as the move would carry the revision of a text that nobody has here.
  std::set<DocumentId> waiting;
  for (const Action& action : survey.plan.actions) {
    if (!is_push(action.kind) && action.kind != ActionKind::conflict) waiting.insert(action.document);
  }
  WS_TRY(close_settled_conflicts(context_->session, survey, options, waiting));
  WS_LET(Report report, report_of(context_->session, survey));
  report.links_mended = mended;
  std::erase_if(report.rows, [&](const Row& row) {
    const bool steps_aside = row.action.kind == ActionKind::push_create && row.action.previous_path;
    return steps_aside || (row.action.kind != ActionKind::conflict && waiting.contains(row.action.document));
  });
  if (files.guard && !files.held_deletes) report.guard = files.guard;
  if (!report.guard) {
    if (auto staged = stage_changes(context_->session, survey, report.rows); !staged) report.ended_by = staged.error();
  }
  if (report.guard || report.ended_by) {
    add_to_report(files, report);
  } else {
    WS_TRY(sync_attachments(context_->session, *context_->clock, std::move(files), Half::there, report));
    sort_by_path(report.rows);
  }
  add_finished(*context_, report);
  return report;
}

Result<Report> SyncEngine::commit(const RunOptions& options) {
  if (options.dry_run) {
    Report planned{.source_id = context_->session.binding.source_id};
    WS_LET(planned.rows, staged_rows(context_->session, options.only));
    WS_LET(const AttachmentSurvey files, survey_staged(context_->session, options));
    for (const Action& action : files.plan.actions)
      planned.rows.push_back({.action = action, .state = Row::State::staged});
    planned.clean = planned.rows.empty();
    return planned;
  }
  WS_LET(const TreeLock lock, begin(*context_, "commit"));
  Report report{.source_id = context_->session.binding.source_id};
  WS_LET(report.base_revision, context_->session.state.source_revision());
  report.revision = report.base_revision;
  WS_LET(AttachmentSurvey files, survey_staged(context_->session, options));
  if (auto committed = commit_staged(context_->session, options.message, report.rows, options.only); !committed) {
    report.ended_by = committed.error();
  }
  WS_TRY(close_report(*context_, report));
  if (!report.ended_by && !files.plan.actions.empty())
    WS_TRY(sync_attachments(context_->session, *context_->clock, std::move(files), Half::both, report));
  add_finished(*context_, report);
  WS_TRY(end_operation(*context_, report));
  return report;
}

Result<std::vector<Difference>> SyncEngine::diff(const RunOptions& options) {
  WS_LET(const Survey survey, ws::sync::survey(context_->session, options, PullMode::inspect));
  const auto everything = [](const RelativePath&) { return true; };
  WS_LET(std::vector<Difference> found,
         differences(context_->session, survey, options.only ? options.only : everything));
  RunOptions looking = options;
  looking.dry_run = true;
  looking.allow_large = true;  // nothing is fetched
  WS_LET(const AttachmentSurvey files, survey_attachments(context_->session, survey, looking));
  const std::vector<Difference> of_files = file_differences(files);
  found.insert(found.end(), of_files.begin(), of_files.end());
  sort_by_path(found);
  return found;
}

Result<std::vector<HistoryState>> SyncEngine::log(const LogOptions& options) const {
  WS_LET(HistoryLog log, HistoryLog::open(context_->session.own("history.git")));
  if (!options.path) return log.states(options);
  WS_LET(std::vector<HistoryState> states, log.states(options));
  WS_LET(const std::vector<HistoryState> of_file, attachment_states(context_->session, *options.path));
  // Their own order is that of the changes, whatever the clock said; only two orders have to be joined by time.
  const bool is_one_order = states.empty() || of_file.empty();
  states.insert(states.end(), of_file.begin(), of_file.end());
  if (!is_one_order) std::ranges::stable_sort(states, std::greater<>(), &HistoryState::time);
  if (options.limit != 0 && states.size() > options.limit) states.resize(options.limit);
  return states;
}

Result<std::string> SyncEngine::text_in(std::string_view state, const RelativePath& path) const {
  WS_LET(HistoryLog log, HistoryLog::open(context_->session.own("history.git")));
  return log.text_in(state, path);
}

Result<std::optional<std::string>> SyncEngine::local_text(const RelativePath& path) const {
  WS_LET(const SafeWriter writer, SafeWriter::open(context_->session.root));
  return read_if_there(writer, path);
}

Result<std::vector<BlamedLine>> SyncEngine::blame(const RelativePath& path) {
  Session& session = context_->session;
  WS_LET(const std::optional<std::string> text, local_text(path));
  if (!text) return fail(Failure::Kind::not_found, "there is no file " + path.string());
  WS_LET(HistoryLog log, HistoryLog::open(session.own("history.git")));
  // A note that was renamed and not sent has its history at the name that both sides agreed on.
  RelativePath agreed = path;
  WS_LET(const DocumentsHere documents, find_documents_here(session));
  if (const auto known = documents.find(path); known != documents.end()) {
    WS_LET(const std::optional<BaseRow> row, session.state.find_base(known->second));
    if (row) agreed = row->disk_path();
  }
  WS_LET(std::vector<BlamedLine> lines, log.blame(agreed, *text));
  std::map<git::ObjectId, std::optional<DocumentRevision>> revisions;
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
    if (const auto taken = find_taken(context_->session.root, path); taken && *taken != path.text()) {
      return fail(
          Failure::Kind::usage,
          fmt::format(
              "{} and {} are one name on other machines, so {} would not be synced", path.text(), *taken, path.text()),
          "give the other file another name first");
    }
    WS_LET(const std::vector<HistoryState> of_file, attachment_states(context_->session, path));
    return of_file.empty() ? ws::sync::restore(context_->session, path, at, dry_run)
                           : restore_attachment(context_->session, *context_->clock, path, at, dry_run);
  };
  if (dry_run) return carry_out();
  WS_LET(const TreeLock lock, begin(*context_, "restore"));
  return while_changing_notes(*context_, carry_out);
}

Result<BroughtBack> SyncEngine::bring_back(const BringBack& wish) {
  if (wish.dry_run) return ws::sync::bring_back(*context_, wish);
  WS_LET(const TreeLock lock, begin(*context_, wish.to == BringBack::To::service ? reset_operation : "restore"));
  return while_changing_notes(*context_, [&] { return ws::sync::bring_back(*context_, wish); });
}

Result<BroughtBack> SyncEngine::leave(const LeaveWish& wish) {
  if (wish.dry_run) return ws::sync::leave(*context_, wish);
  WS_LET(const TreeLock lock, begin(*context_, leave_operation));
  return while_changing_notes(*context_, [&] { return ws::sync::leave(*context_, wish); });
}

Result<Taken> SyncEngine::take(const TakeWish& wish) {
  RunOptions pull;
  if (wish.dry_run) return ws::sync::take(*context_, wish, pull);
  WS_LET(const TreeLock lock, begin(*context_, take_operation));
  WS_LET(Taken taken, ws::sync::take(*context_, wish, pull));
  if (!taken.brings_any) return taken;
  auto pulled = pull_here(*context_, pull);
  taken.report = pulled ? std::move(*pulled) : Report{.ended_by = std::move(pulled).error()};
  return taken;
}

Result<std::vector<LeftOutName>> SyncEngine::left_out() const { return list_left_out(context_->session); }

Result<std::vector<ListedAttachment>> SyncEngine::attachments() {
  const RunOptions options{.offline = true, .looks_only = true, .whole = true};
  WS_LET(const Survey survey, ws::sync::survey(context_->session, options, PullMode::inspect));
  WS_LET(const AttachmentSurvey found, survey_attachments(context_->session, survey, options));
  return list_attachments(found);
}

Result<std::vector<RelativePath>> SyncEngine::choose_attachments(FileChoice choice,
                                                                 const std::vector<std::string>& names) {
  WS_LET(const TreeLock lock, begin(*context_, "attachments"));
  const RunOptions options{.offline = true, .whole = true};
  WS_LET(const Survey survey, ws::sync::survey(context_->session, options, PullMode::inspect));
  WS_LET(const AttachmentSurvey found, survey_attachments(context_->session, survey, options));
  return ws::sync::choose_attachments(context_->session, found, choice, names);
}

Result<std::vector<OperationDetails>> SyncEngine::operations(std::size_t limit) {
  WS_LET(const std::vector<Operation> all, context_->session.state.operations().list());
  std::vector<OperationDetails> found;
  for (const Operation& each : all) {
    if (limit != 0 && found.size() == limit) break;
    OperationDetails details{.operation = each, .is_undone = each.is_spent || is_undone(all, each.id)};
    WS_LET(details.rows, context_->session.state.operations().rows(each.id));
    found.push_back(std::move(details));
  }
  return found;
}

Result<OperationDetails> SyncEngine::operation(std::uint64_t id) {
  WS_LET(const std::vector<Operation> all, context_->session.state.operations().list());
  OperationDetails details;
  WS_LET(details.operation, find_operation(context_->session.state, {.operation = id}));
  WS_LET(details.rows, context_->session.state.operations().rows(id));
  details.is_undone = details.operation.is_spent || is_undone(all, id);
  return details;
}

Result<std::string> SyncEngine::text(const git::ObjectId& blob) { return context_->session.history.text(blob); }

Result<UndoReport> SyncEngine::undo(const UndoOptions& options) {
  if (options.dry_run) {
    WS_LET(const bool cut_off, was_cut_off(context_->session));
    if (!cut_off) return undo_operation(*context_, options);
    return fail(Failure::Kind::conflict,
                "an earlier command was interrupted, and is finished before anything is undone",
                "`ws sync` finishes it; then look again");
  }
  WS_LET(const TreeLock lock, begin(*context_, options.redo ? "redo" : "undo"));
  return while_writing_notes(*context_, [&] { return undo_operation(*context_, options); });
}

Result<GcReport> SyncEngine::gc(const GcOptions& options) {
  std::optional<TreeLock> lock;
  if (!options.dry_run) {
    WS_LET(lock, begin(*context_, "gc"));
  }
  WS_LET(GcReport report, collect_garbage(context_->session, options));
  WS_TRY(collect_bytes(context_->session, options, report));
  return report;
}

Result<std::vector<Conflict>> SyncEngine::conflicts() const {
  WS_LET(std::vector<Conflict> open, find_open_conflicts(context_->session));
  WS_LET(const auto files, context_->session.attachments().conflicts());
  for (const auto& [path, conflict] : files) {
    open.push_back(conflict_of(path, conflict));
    open.back().device = context_->session.options.device;
  }
  return open;
}

Result<std::optional<OpenAttachment>> SyncEngine::open_attachment(const RelativePath& path) const {
  WS_LET(const auto open, context_->session.attachments().conflicts());
  const auto found = open.find(path);
  return found == open.end() ? std::optional<OpenAttachment>{} : std::optional(found->second);
}

Result<ConflictTexts> SyncEngine::texts(const Conflict& conflict) const {
  Session& session = context_->session;
  ThreeTexts texts = read_conflict_texts(session.root, conflict.id);
  ConflictTexts known{.conflict = conflict,
                      .base = std::move(texts.base),
                      .local = std::move(texts.local),
                      .remote = std::move(texts.remote),
                      .merge_later = session.config.merge_later};
  if (!conflict.is_about(ConflictSubject::place) || !conflict.remote) return known;
  // The other document of a name lies beside it, and is agreed on: the record has no text of it.
  WS_LET(const auto base, session.state.base());
  const auto other = base.find(conflict.document);
  if (other == base.end()) return known;
  const BaseRow& row = other->second;
  if (row.disk_path() != conflict.path) known.remote_place = row.disk_path();
  if (!known.remote) known.remote = find_kept_text(session, row.blob, conflict.remote->hash);
  return known;
}

Result<DocumentId> SyncEngine::list_part_of(const RelativePath& file) const {
  return find_list_part(context_->session, file);
}

void SyncEngine::set_command(std::string command) { context_->session.options.command = std::move(command); }

Result<Rewound> SyncEngine::rewound() { return find_rewound(context_->session); }

Result<void> SyncEngine::resolve(const Conflict& conflict, Keep keep, const std::optional<std::string>& merged) {
  WS_LET(std::vector<Result<void>> decided, resolve({{.conflict = conflict, .keep = keep, .merged = merged}}));
  return std::move(decided.front());
}

Result<std::vector<Result<void>>> SyncEngine::resolve(const std::vector<Choice>& choices) {
  WS_LET(const TreeLock lock, begin(*context_, "resolve"));
  if (context_->session.remote == nullptr)
    return fail(Failure::Kind::usage, "this cannot be done without the service", "run `ws login`");
  std::vector<Choice> documents = choices;
  std::erase_if(documents, [](const Choice& each) { return each.conflict.is_about(ConflictSubject::attachment); });
  WS_TRY(store_renamed_conflicts(context_->session));
  WS_TRY(begin_writing_notes(*context_));
  std::vector<Result<void>> of_documents = decide_conflicts(context_->session, documents);
  std::vector<Result<void>> decided;
  std::size_t next = 0;
  for (const Choice& each : choices) {
    const bool is_file = each.conflict.is_about(ConflictSubject::attachment);
    decided.push_back(is_file ? decide_attachment(context_->session, *context_->clock, each.conflict.path, each.keep)
                              : std::move(of_documents[next++]));
  }
  WS_TRY(end_writing_notes(*context_));
  WS_TRY(close_operation(*context_));
  context_->is_cache_old =
      context_->is_cache_old || std::ranges::any_of(decided, [](const auto& each) { return bool(each); });
  return decided;
}

Result<std::optional<Conflict>> SyncEngine::refresh_conflict(const Conflict& conflict) {
  if (conflict.is_about(ConflictSubject::attachment)) return std::optional(conflict);
  WS_LET(const TreeLock lock, begin(*context_, "resolve"));
  WS_TRY(store_renamed_conflicts(context_->session));
  return ws::sync::refresh_conflict(context_->session, conflict);
}

Result<void> SyncEngine::write_markers(const Conflict& conflict) {
  WS_LET(const TreeLock lock, begin(*context_, "resolve"));
  WS_TRY(store_renamed_conflicts(context_->session));
  return while_changing_notes(*context_, [&] { return ws::sync::write_markers(context_->session, conflict); });
}

Result<std::string> SyncEngine::merged_text(const Conflict& conflict) {
  return ws::sync::merged_text(context_->session, conflict);
}

}  // namespace ws::sync
