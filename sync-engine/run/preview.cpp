#include "sync-engine/run/preview.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fcntl.h>

#include "sync-engine/conflicts/decide.hpp"
#include "sync-engine/conflicts/decide_place.hpp"
#include "sync-engine/reconcile/free_name.hpp"
#include "sync-engine/reconcile/freed_places.hpp"
#include "sync-engine/reconcile/reconcile.hpp"
#include "sync-engine/run/report_rows.hpp"
#include "sync-engine/survey/try_plan.hpp"

namespace ws::sync {
namespace {

class Previewer {
 public:
  Previewer(Session& session, Survey& seen, const RunOptions& options, Report& report)
      : session_(session), seen_(seen), options_(options), report_(report) {}

  Result<void> preview() {
    apply_first_round();
    admit_twins();
    if (options_.on_conflict) {
      WS_TRY(decide_places());
      settle_others();
    }
    if (!paths_.empty() || !documents_.empty()) WS_TRY(add_next_round());
    return {};
  }

 private:
  void forget(const DocumentId& document) {
    seen_.base.documents.erase(document);
    seen_.base.displaced_to.erase(document);
    seen_.base_rows.erase(document);
  }
  void settle(const DocumentId& document) {
    seen_.remote.changed.erase(document);
    seen_.remote.gone.erase(document);
    seen_.pending.erase(document);
  }
  void put(const DocumentId& document, const BaseRow& row) {
    forget(document);
    seen_.base.documents.emplace(document, row.entry);
    if (row.displaced_to && !row.document_follows_file) seen_.base.displaced_to.emplace(document, *row.displaced_to);
    seen_.base_rows.emplace(document, row);
  }

  /// What comes here is in its place, and no longer where it was.
  void apply_first_round() {
    for (const Row& row : report_.rows) {
      const Action& action = row.action;
      freed_.add(action);
      if (action.attachment || action.document.empty()) continue;
      if (action.kind == ActionKind::pull_delete) {
        seen_.local.tracked.erase(action.document);
        forget(action.document);
        settle(action.document);
        continue;
      }
      const bool comes = action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_update ||
                         action.kind == ActionKind::pull_move;
      const auto there = seen_.remote.changed.find(action.document);
      if (!comes || there == seen_.remote.changed.end()) continue;
      BaseRow now{.entry = there->second};
      now.set_disk_path(action.path);
      seen_.local.tracked.insert_or_assign(action.document, Entry{.path = action.path, .hash = now.entry.hash});
      settle(action.document);
      put(action.document, now);
    }
  }

  /// Files that had to wait for a name that is free now.
  void admit_twins() {
    std::set<RelativePath> twins;
    for (const Skipped& each : report_.skipped) {
      if (freed_.has_room_for(each)) twins.insert(*RelativePath::parse(each.path));
    }
    if (twins.empty()) return;
    const FoundTree found = seen_.scan.found();
    for (const FoundFile& file : found.files) {
      if (!twins.contains(file.path)) continue;
      paths_.insert(file.path);
      // Where the file is a known document's, that has it for its own now.
      const auto known = seen_.local.set_aside.find(file.path);
      if (known == seen_.local.set_aside.end()) {
        seen_.local.created.emplace(file.path, file.hash);
        continue;
      }
      documents_.insert(known->second);
      seen_.local.unsyncable.erase(known->second);
      seen_.local.tracked.insert_or_assign(known->second, Entry{.path = file.path, .hash = file.hash});
      std::erase_if(report_.detached, [&](const Detached& each) { return each.document == known->second; });
      seen_.local.set_aside.erase(known);
    }
    std::erase_if(report_.skipped, [&](const Skipped& each) {
      const auto path = RelativePath::parse(each.path);
      return path && each.reason == SkipReason::twin && paths_.contains(*path);
    });
  }

  Result<void> decide_places() {
    WS_LET(SafeWriter writer, SafeWriter::open(session_.root));
    for (const Conflict& conflict : std::vector<Conflict>(report_.conflicts)) {
      if (!conflict.is_about(ConflictSubject::place) || (options_.only && !options_.only(conflict.path))) continue;
      DocumentsHere here;
      for (const auto& [document, entry] : seen_.local.tracked) here.emplace(entry.path, document);
      const auto owner = here.find(conflict.path);
      if (owner != here.end()) documents_.insert(owner->second);
      auto decided = foresee_place(
          session_, writer, KnownPlaces(seen_.base_rows, seen_.pending), here, conflict, *options_.on_conflict);
      if (!decided) continue;  // it stays open
      apply(conflict, *decided);
      const bool has_row = planned_as(conflict, *options_.on_conflict).has_value();
      if (has_row) continue;  // by `preview_decisions`
      std::erase_if(report_.rows, [&](const Row& row) {
        return row.action.kind == ActionKind::conflict && row.action.path == conflict.path &&
               row.action.document == conflict.document;
      });
      std::erase(report_.conflicts, conflict);
    }
    return {};
  }

  void apply(const Conflict& conflict, const ForeseenPlace& decided) {
    documents_.insert(conflict.document);
    paths_.insert(conflict.path);
    if (decided.moved_to) {
      paths_.insert(*decided.moved_to);
      if (const auto file = seen_.local.created.extract(conflict.path); !file.empty())
        seen_.local.created.emplace(*decided.moved_to, file.mapped());
      for (auto& [document, entry] : seen_.local.tracked) {
        if (entry.path == conflict.path) entry.path = *decided.moved_to;
      }
    }
    for (const FileChange& file : decided.decided.files) {
      if (file.text && conflict.remote) {
        seen_.local.tracked.insert_or_assign(conflict.document,
                                             Entry{.path = file.path, .hash = conflict.remote->hash});
        continue;
      }
      seen_.local.created.erase(file.path);
      std::erase_if(seen_.local.tracked, [&](const auto& each) { return each.second.path == file.path; });
    }
    for (const auto& [document, row] : decided.decided.end.base) row ? put(document, *row) : forget(document);
    for (const auto& [document, row] : decided.decided.end.pending) settle(document);
  }

  /// Conflicts whose decision needs no other round.
  void settle_others() {
    add_renames();
    if (*options_.on_conflict == Keep::both) add_copies();
    preview_decisions(report_, options_);
  }

  /// The name that a text has here is sent once that is decided.
  void add_renames() {
    for (const Conflict& conflict : report_.conflicts) {
      const bool is_renamed_here = conflict.is_about(ConflictSubject::text) && conflict.base && conflict.local &&
                                   conflict.remote && conflict.local->path != conflict.base->path &&
                                   conflict.remote->path == conflict.base->path;
      if (!is_renamed_here || (options_.only && !options_.only(conflict.path))) continue;
      const bool is_told = std::ranges::any_of(report_.rows, [&](const Row& row) {
        return row.action.kind == ActionKind::push_move && row.action.path == conflict.path;
      });
      if (is_told) continue;
      report_.rows.push_back({.action = {.kind = ActionKind::push_move,
                                         .path = conflict.path,
                                         .reason = "renamed here",
                                         .document = conflict.document,
                                         .previous_path = conflict.base->path}});
    }
    sort_by_path(report_.rows);
  }

  /// Where both are kept, the one that gives way gets a name of its own.
  void add_copies() {
    const auto is_free = [this](const RelativePath& place) {
      return !session_.root.open_beneath(place.text(), O_PATH | O_NOFOLLOW);
    };
    for (const Conflict& conflict : report_.conflicts) {
      if (!conflict.local || (options_.only && !options_.only(conflict.path))) continue;
      const bool is_of_files = conflict.kind() == ConflictKind::attachment && conflict.remote;
      if (!is_of_files && !conflict.is_about(ConflictSubject::text)) continue;
      const auto copy =
          conflict.beside ? conflict.beside : name_beside(conflict.path, is_of_files ? "remote" : "local", is_free);
      if (!copy) continue;
      Action action{.kind = ActionKind::adopt, .path = *copy, .reason = "the same text on both sides"};
      if (is_of_files) {
        action.kind = ActionKind::push_create;
        action.reason = "conflict, both are kept";
      }
      action.attachment = is_of_files;
      report_.rows.push_back({.action = std::move(action)});
    }
    sort_by_path(report_.rows);
  }

  bool is_about_it(const Action& action) const {
    return documents_.contains(action.document) || paths_.contains(action.path) ||
           (action.previous_path && paths_.contains(*action.previous_path));
  }

  /// Of what was decided or had to wait; the rest is in the report.
  Result<void> add_next_round() {
    ReconcileOptions how{.merge = options_.merge, .allow_deletes = true};
    std::vector<Action> moves;  // a name waits for the decision about the text, and then comes all the same
    while (true) {
      seen_.plan = reconcile(seen_.base, seen_.local, seen_.remote, how);
      std::erase_if(seen_.plan.actions, [this](const Action& action) { return !is_about_it(action); });
      WS_LET(std::set<DocumentId> colliding, try_merges(session_, seen_, {}, options_.offline));
      if (colliding.empty()) break;
      how.colliding.merge(colliding);
      std::ranges::copy_if(seen_.plan.actions, std::back_inserter(moves), [&](const Action& action) {
        return action.kind == ActionKind::push_move && how.colliding.contains(action.document);
      });
    }
    std::ranges::move(moves, std::back_inserter(seen_.plan.actions));
    const auto key = [](const Action& action) { return std::tuple(action.kind, action.path, action.previous_path); };
    std::set<std::tuple<ActionKind, RelativePath, std::optional<RelativePath>>> told;
    for (const Row& row : report_.rows) told.insert(key(row.action));
    const std::size_t before = report_.rows.size();
    for (Action& action : seen_.plan.actions) {
      if (told.insert(key(action)).second) report_.rows.push_back({.action = std::move(action)});
    }
    // A text that waited for the decision about its name.
    for (const Conflict& conflict : seen_.plan.conflicts) {
      if (!conflict.is_about(ConflictSubject::text) || !documents_.contains(conflict.document)) continue;
      report_.rows.push_back({.action = {.kind = ActionKind::conflict,
                                         .path = conflict.path,
                                         .reason = conflict.row().reason,
                                         .document = conflict.document}});
      report_.conflicts.push_back(conflict);
    }
    if (report_.rows.size() == before) return {};
    sort_by_path(report_.rows);
    if (options_.on_conflict) settle_others();
    return {};
  }

  Session& session_;
  Survey& seen_;
  const RunOptions& options_;
  Report& report_;
  FreedPlaces freed_;
  std::set<RelativePath> paths_ = {};    ///< that the next round is asked about
  std::set<DocumentId> documents_ = {};  ///< the same
};

}  // namespace

Result<void> preview_later_rounds(Session& session, Survey seen, const RunOptions& options, Report& report) {
  if (report.guard) return {};
  return Previewer(session, seen, options, report).preview();
}

}  // namespace ws::sync
