#include "sync-engine/undo/undo.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/merge/merge.hpp"
#include "sync-engine/reconcile/guard.hpp"
#include "sync-engine/reconcile/narrow_plan.hpp"
#include "sync-engine/reconcile/reconcile.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/cached_walk.hpp"
#include "sync-engine/undo/taken_places.hpp"

namespace ws::sync {
namespace {

using Text = std::optional<std::string>;

class Planner {
 public:
  Planner(Session& session,
          SafeWriter& files,
          const std::set<RelativePath>& leaving,
          const UndoOptions& options,
          const Operation& undone,
          AsksService asks)
      : session_(session), files_(files), leaving_(leaving), options_(options), undone_(undone), asks_(asks) {}

  Result<PlannedUndo> plan(const std::vector<OperationRow>& rows) {
    const RunOptions look{.allow_deletes = options_.allow_deletes,
                          .offline = asks_ == AsksService::no,
                          .dry_run = options_.dry_run,
                          .whole = true};
    WS_LET(planned_.survey, survey(session_, look, PullMode::inspect));
    Survey& seen = planned_.survey;
    planned_.is_stopped = seen.plan.went_back() ||
                          (seen.plan.guard && (seen.plan.guard->foreign_source || seen.plan.guard->empty_listing));
    if (planned_.is_stopped) return std::move(planned_);
    // What was never sent is taken back here alone: what the service changed waits for a run, as it did before.
    if (asks_ == AsksService::no) {
      seen.remote = {};
      seen.plan.conflicts.clear();
      seen.known_conflicts.clear();
    }
    match_copies(rows);
    UndoWorld world{
        .base = seen.base,
        .local = seen.local,
        .remote = seen.remote,
        .take_out = [this](const auto& row, const auto& file) { return take_out(row, file); },
        .why_not_synced = [this](const auto& path, const auto& text) { return why_kept_out(path, text); },
        .merges_there = [this](const auto& document, const auto& text) { return merges_there(document, text); },
        .only = options_.only,
        .is_first = undone_.is_first};
    WS_LET(world.taken_back, find_taken_back());
    world.keep_text = [this](const RelativePath& file) { return keep_text(file); };
    WS_LET(const std::vector<DecidedText> decided, session_.state.operations().decided_texts(undone_.id));
    for (const DecidedText& each : decided) {
      if (!each.was_open() && is_as_before(each)) continue;
      if (each.is_for_theirs()) {
        world.opened_here.emplace(each.document, each.text);
      } else {
        world.opened_again.insert(each.document);
      }
    }
    for (const Conflict& conflict : seen.known_conflicts) world.in_conflict.insert(conflict.document);
    for (const Conflict& conflict : seen.plan.conflicts) world.in_conflict.insert(conflict.document);
    if (!seen.scan.rules_loaded()) {
      WS_LET(seen.scan, walk_tree(session_, true));
    }
    Plan plan;
    do {
      planned_.undo = plan_undo(rows, world);
      plan = reconcile(seen.base, planned_.undo.local, seen.remote, {.allow_deletes = true});
    } while (refuse(plan, world) || narrow(plan, world));
    if (failure_) return fail(std::move(*failure_));
    finish(plan);
    if (asks_ == AsksService::no) planned_.undo.anew.clear();  // the documents were here alone, or are there
    seen.local = planned_.undo.local;
    return std::move(planned_);
  }

 private:
  /// No run has agreed on the text that was taken: the file alone changed.
  bool is_as_before(const DecidedText& decided) const {
    const auto& base = planned_.survey.base_rows;
    const auto now = base.find(decided.document);
    return decided.base ? now != base.end() && now->second == *decided.base : now == base.end();
  }

  /// The copy of a decision that kept both is a document on the service before a run has matched it with its file.
  void match_copies(const std::vector<OperationRow>& rows) {
    Survey& seen = planned_.survey;
    for (const OperationRow& row : rows) {
      if (!row.document.empty() || !row.after || !row.origins.has(ChangeOrigin::decided)) continue;
      const RelativePath& path = row.after->path;
      const auto planned = std::ranges::find_if(seen.plan.actions, [&path](const Action& action) {
        return action.kind == ActionKind::adopt && action.path == path;
      });
      if (planned == seen.plan.actions.end()) continue;
      const auto there = seen.remote.changed.extract(planned->document);
      if (there.empty()) continue;
      BaseRow known{.entry = there.mapped(), .blob = row.after->blob};
      known.set_disk_path(path);
      seen.base.documents.insert_or_assign(planned->document, known.entry);
      seen.local.created.erase(path);
      seen.local.tracked.insert_or_assign(planned->document, Entry{.path = path, .hash = known.entry.hash});
      planned_.matched.insert_or_assign(planned->document, std::move(known));
    }
  }

  Result<std::multimap<DocumentId, Version>> find_taken_back() {
    std::multimap<DocumentId, Version> found;
    WS_LET(const std::vector<Operation> all, session_.state.operations().list());
    for (const Operation& each : all) {
      if (each.id <= undone_.id || each.undoes != 0 || !is_undone(all, each.id)) continue;
      WS_LET(const std::vector<OperationRow> rows, session_.state.operations().rows(each.id));
      for (const OperationRow& row : rows) {
        if (row.before && !row.document.empty()) found.emplace(row.document, *row.before);
      }
    }
    return found;
  }

  /// Excludes documents whose undo would end in a conflict, or whose path is taken on disk.
  bool refuse(const Plan& plan, UndoWorld& world) {
    const std::set<RelativePath> paths = paths_of(planned_.undo.steps);
    const std::size_t before = world.refused.size() + world.refused_paths.size();
    // What is done here alone may lead to one: that of a name, which its decision had ended.
    for (const Conflict& conflict : asks_ == AsksService::no ? std::vector<Conflict>() : plan.conflicts) {
      if (!conflict.document.empty() && documents_of(planned_.undo.steps).contains(conflict.document))
        world.refused.insert(conflict.document);
      if (paths.contains(conflict.path)) world.refused_paths.insert(conflict.path);
    }
    std::set<std::string> twins;
    for (const Skipped& each : plan.skipped) {
      const auto path = RelativePath::parse(each.path);
      if (path && each.reason == SkipReason::twin) twins.insert(path->twin_key());
    }
    std::set<RelativePath> leaving = leaving_;
    for (const FileStep& step : planned_.undo.steps) {
      if (step.from) leaving.insert(*step.from);
    }
    for (const FileStep& step : planned_.undo.steps) {
      const bool arrives = step.to && step.to != step.from;
      if (arrives && (taken_.is_taken(*step.to, leaving) || twins.contains(step.to->twin_key())))
        world.refused_paths.insert(*step.to);
    }
    return world.refused.size() + world.refused_paths.size() > before;
  }

  /// A new file is known by its path alone.
  static std::set<DocumentId> documents_of(const std::vector<FileStep>& steps) {
    std::set<DocumentId> documents;
    for (const FileStep& step : steps) documents.insert(step.document);
    documents.erase(DocumentId{});
    return documents;
  }

  /// Restricts the plan of the run that follows to these files, and excludes those that wait for others there.
  bool narrow(Plan& plan, UndoWorld& world) {
    const Survey& seen = planned_.survey;
    const std::vector<FileStep> steps = steps_to_send(planned_.undo.steps);
    const std::set<RelativePath> paths = paths_of(steps);
    const std::set<DocumentId> documents = documents_of(steps);
    const auto wanted = [&](const RelativePath& path) { return paths.contains(path); };
    std::map<RelativePath, DocumentId> waiting;
    for (const Action& action : plan.actions) {
      if (wanted(action.path)) waiting.emplace(action.path, action.document);
    }
    narrow_plan(plan, seen.base, seen.remote, wanted, documents);
    for (const Action& action : plan.actions) waiting.erase(action.path);
    if (asks_ == AsksService::no) return false;
    const std::size_t before = world.refused.size() + world.refused_paths.size();
    for (const auto& [path, document] : waiting) {
      document.empty() ? void(world.refused_paths.insert(path)) : void(world.refused.insert(document));
    }
    return world.refused.size() + world.refused_paths.size() > before;
  }

  void finish(Plan& plan) {
    const std::vector<FileStep> steps = steps_to_send(planned_.undo.steps);
    plan.partial = false;
    if (steps.empty()) plan = {};
    const std::set<RelativePath> stay = files_that_stay(steps);
    for (Action& action : plan.actions) {
      const StepSide side = stay.contains(action.path) ? StepSide::service : StepSide::both;
      if (is_push(action.kind)) action.reason = reason_of(side);
    }
    plan.guard = options_.allow_deletes ? std::nullopt : guard_of(plan, count_in_sight(planned_.survey.base), 0);
    planned_.survey.plan = std::move(plan);
  }

  std::string_view why_kept_out(const RelativePath& path, const git::ObjectId& blob) {
    if (why_not_synced(session_, planned_.survey.scan, path)) return ignored_now;
    if (session_.config.max_file_bytes >= default_max_file_bytes) return {};  // no document is larger
    const Text text = history_text(blob);
    return text && text->size() > session_.config.max_file_bytes ? too_large_now : std::string_view();
  }

  Text history_text(const git::ObjectId& blob) {
    if (const auto made = made_.find(blob); made != made_.end()) return made->second;
    if (blob.empty()) return std::nullopt;
    auto text = session_.history.text(blob);
    return text ? Text(std::move(*text)) : std::nullopt;
  }

  /// Empty where the texts collide.
  Text merge(const RelativePath& path, const std::string& base, const std::string& ours, const std::string& theirs) {
    if (merge::adds_markers(ours, {base, theirs})) return std::nullopt;
    if (!is_markdown(path.text())) {
      auto lines = merge::merge_lines(base, ours, theirs);
      if (lines) return std::move(*lines);
      failure_ = std::move(lines).error();
      return std::nullopt;
    }
    auto merged = merge::merge_markdown(base, ours, theirs, {.merge_later = session_.config.merge_later});
    if (merged) return merged->is_clean() ? Text(merged->text()) : std::nullopt;
    failure_ = std::move(merged).error();
    return std::nullopt;
  }

  std::optional<UndoText> take_out(const OperationRow& row, const RelativePath& file) {
    const Text base = history_text(row.after->blob);
    const Text theirs = history_text(row.before->blob);
    const auto ours = files_.read(file);
    if (!base || !theirs || !ours) return std::nullopt;
    const Text merged = merge(file, *base, *ours, *theirs);
    if (!merged) return std::nullopt;
    const git::ObjectId blob = keep(*merged);
    if (blob.empty()) return std::nullopt;
    return UndoText{.hash = Sha256::of(*merged), .blob = blob};
  }

  git::ObjectId keep(const std::string& text) {
    auto blob = session_.history.keep(text);
    if (blob) {
      made_.insert_or_assign(*blob, text);
      return *blob;
    }
    failure_ = std::move(blob).error();
    return {};
  }

  git::ObjectId keep_text(const RelativePath& file) {
    const auto text = files_.read(file);
    return text ? keep(*text) : git::ObjectId{};
  }

  bool merges_there(const DocumentId& document, const UndoText& text) {
    const Survey& seen = planned_.survey;
    const auto base_row = seen.base_rows.find(document);
    if (base_row == seen.base_rows.end()) return false;
    const auto pending = seen.pending.find(document);
    const git::ObjectId blob = pending == seen.pending.end() ? git::ObjectId{} : pending->second.blob;
    const auto theirs = fetch_remote_text(session_, document, blob, seen.remote.changed.at(document).hash);
    const Text base = history_text(base_row->second.blob);
    const Text ours = history_text(text.blob);
    return theirs && *theirs && base && ours && merge(base_row->second.entry.path, *base, *ours, **theirs);
  }

  Session& session_;
  SafeWriter& files_;
  const std::set<RelativePath>& leaving_;
  const UndoOptions& options_;
  const Operation& undone_;
  AsksService asks_;
  PlannedUndo planned_;
  TakenPlaces taken_{session_.root};
  std::map<git::ObjectId, std::string> made_;  ///< merged texts, which the history does not have on disk yet
  std::optional<Failure> failure_;
};

}  // namespace

Result<Operation> find_operation(StateStore& state, const UndoOptions& options, const std::vector<Operation>& passed) {
  if (options.operation) {
    WS_LET(std::optional<Operation> found, state.operations().find(*options.operation));
    if (found) return std::move(*found);
    return fail(Failure::Kind::not_found,
                fmt::format("there is no run {}", *options.operation),
                "`ws sync log --runs` lists them");
  }
  WS_LET(std::vector<Operation> all, state.operations().list());
  for (Operation& each : all)
    each.is_spent = each.is_spent || std::ranges::find(passed, each.id, &Operation::id) != passed.end();
  std::optional<Operation> last = last_to_undo(all, options.redo ? 1 : 0);
  if (last) return std::move(*last);
  return fail(Failure::Kind::not_found,
              options.redo ? "no undo is left to redo" : "no run is left to undo",
              "`ws sync log --runs` lists them");
}

Result<PlannedUndo> prepare_undo(Session& session,
                                 const std::vector<OperationRow>& rows,
                                 const std::set<RelativePath>& leaving,
                                 const UndoOptions& options,
                                 const Operation& undone,
                                 AsksService asks) {
  WS_LET(SafeWriter files, SafeWriter::open(session.root));
  return Planner(session, files, leaving, options, undone, asks).plan(rows);
}

}  // namespace ws::sync
