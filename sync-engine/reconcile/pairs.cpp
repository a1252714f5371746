#include "sync-engine/reconcile/pairs.hpp"

#include <utility>

namespace ws::sync {
namespace {

/// The table as code: one method for each local change, one case for each remote change.
class Decider {
 public:
  Decider(const Pair& pair, const ReconcileOptions& options, Plan& plan)
      : pair_(pair), options_(options), plan_(plan) {}

  void decide() {
    if (pair_.local.change == Change::unknown || pair_.remote.change == Change::unknown) return;  // `detached`
    if (pair_.remote.change == Change::rewound) {
      if (changed(pair_.local) || pair_.remote.entry) conflict(ConflictCase::document_went_back);
      return;
    }
    switch (pair_.local.change) {
      case Change::unchanged: return unchanged_here();
      case Change::edited: return edited_here();
      case Change::deleted: return deleted_here();
      case Change::moved: return moved_here();
      case Change::created:
      case Change::unknown:
      case Change::rewound: return;
    }
  }

 private:
  static bool changed(const SideChange& side) { return side.change != Change::unchanged; }
  const Entry& local() const { return *pair_.local.entry; }
  const Entry& remote() const { return *pair_.remote.entry; }

  Action action(ActionKind kind, RelativePath path, std::string_view reason) const {
    Action made{.kind = kind, .path = std::move(path), .reason = reason, .document = pair_.document};
    if (pair_.local.entry) made.seen = local().hash;
    return made;
  }

  void pull(ActionKind kind, RelativePath path, std::string_view reason) {
    Action made = action(kind, std::move(path), reason);
    if (pair_.remote.entry) {
      made.result = remote().hash;
      made.revision = remote().revision;
    }
    plan_.actions.push_back(std::move(made));
  }

  void pull_move(std::string_view reason) {
    Action made = action(ActionKind::pull_move, remote().path, reason);
    made.previous_path = local().path;
    made.result = local().hash;  // the move keeps the text on disk; an edit is a row of its own, with its own revision
    const bool whole = !pair_.remote.edited() || remote().hash == local().hash;
    made.revision = whole ? remote().revision : pair_.base.revision;
    plan_.actions.push_back(std::move(made));
  }

  void push(ActionKind kind, RelativePath path, std::string_view reason) {
    Action made = action(kind, std::move(path), reason);
    if (pair_.local.entry) made.result = local().hash;
    made.revision = pair_.remote.entry ? remote().revision : pair_.base.revision;
    plan_.actions.push_back(std::move(made));
  }

  void push_move(std::string_view reason) {
    Action made = action(ActionKind::push_move, local().path, reason);
    made.previous_path = pair_.base.path;
    made.result = remote().hash;
    made.revision = remote().revision;
    plan_.actions.push_back(std::move(made));
  }

  Conflict both_sides() const {
    const RelativePath& path = pair_.local.entry ? local().path : pair_.remote.entry ? remote().path : pair_.base.path;
    return {.path = path,
            .document = pair_.document,
            .base = pair_.base,
            .local = pair_.local.entry,
            .remote = pair_.remote.entry};
  }

  void conflict(ConflictCase which) {
    plan_.conflicts.push_back(both_sides());
    plan_.conflicts.back().which = which;
  }

  void settle(std::optional<Entry> base) {
    if (base && *base == pair_.base) return;
    plan_.settled.push_back({.document = pair_.document, .base = std::move(base)});
  }

  /// The file becomes a new document beside the folder that takes its path; settle_clashes finds the name.
  void step_aside() {
    Action made = action(ActionKind::push_create, local().path, "a folder has its name on the service now");
    made.document = {};
    made.previous_path = local().path;
    made.result = local().hash;
    plan_.actions.push_back(std::move(made));
    settle(std::nullopt);
  }

  /// Edited on both sides; the file is, or will be, at `path`.
  void edited_on_both(const RelativePath& path) {
    if (local().hash == remote().hash) return settle(remote());
    // Another text under the revision of the base: its ancestor is unknown, so nothing can be merged.
    const bool is_fault = remote().revision == pair_.base.revision && remote().revision.is_known();
    if (!options_.merge || is_fault || options_.colliding.contains(pair_.document)) {
      // A conflict blocks all changes of its document, on both sides.
      std::erase_if(plan_.actions, [&](const Action& each) { return each.document == pair_.document; });
      return conflict(find_text_case(both_sides()));
    }
    Action made = action(ActionKind::merge, path, "edited on both sides");
    made.revision = remote().revision;
    plan_.actions.push_back(std::move(made));
  }

  /// The remote change relative to the disk: a displaced file counts as moved, so that it returns to its path.
  Change remote_change_on_disk() const {
    const Change change = pair_.remote.change;
    const bool stays = change == Change::unchanged || change == Change::edited;
    return stays && pair_.is_displaced() ? Change::moved : change;
  }

  void unchanged_here() {
    switch (remote_change_on_disk()) {
      case Change::edited: return pull(ActionKind::pull_update, local().path, "edited on the service");
      case Change::deleted: return pull(ActionKind::pull_delete, local().path, "archived on the service");
      case Change::moved:
        pull_move("moved on the service");
        if (pair_.remote.edited()) pull(ActionKind::pull_update, remote().path, "edited on the service");
        return;
      case Change::unchanged: return settle(remote());
      case Change::created:
      case Change::unknown:
      case Change::rewound: return;
    }
  }

  void edited_here() {
    switch (remote_change_on_disk()) {
      case Change::unchanged: return push(ActionKind::push_update, local().path, "edited here");
      case Change::edited: return edited_on_both(local().path);
      case Change::deleted: return pair_.folder_there ? step_aside() : conflict(ConflictCase::edited_and_archived);
      case Change::moved:
        pull_move("moved on the service");
        if (!pair_.remote.edited()) return push(ActionKind::push_update, remote().path, "edited here");
        if (local().hash != remote().hash) edited_on_both(remote().path);
        return;
      case Change::created:
      case Change::unknown:
      case Change::rewound: return;
    }
  }

  void deleted_here() {
    const bool is_there = pair_.remote.change != Change::deleted && pair_.remote.change != Change::rewound;
    if (pair_.left_out && is_there)
      return pull(ActionKind::pull_create, remote().path, "was left out here: it comes back");
    switch (pair_.remote.change) {
      case Change::unchanged: return push(ActionKind::push_delete, pair_.base.path, "deleted here");
      case Change::deleted: return settle(std::nullopt);
      case Change::moved:
        // Moved there only to make room for another document; its text is the one that was deleted here.
        if (pair_.path_taken_there && !pair_.remote.text_too)
          return push(ActionKind::push_delete, remote().path, "deleted here");
        [[fallthrough]];
      case Change::edited:
        if (options_.accept_deletes)
          return push(
              ActionKind::push_delete, remote().path, "deleted here, which wins over the change on the service");
        return pull(ActionKind::pull_create,
                    remote().path,
                    pair_.remote.edited() ? "deleted here but edited on the service: it comes back"
                                          : "deleted here but moved on the service: it comes back");
      case Change::created:
      case Change::unknown:
      case Change::rewound: return;
    }
  }

  /// Renamed alike: only the texts are left to compare.
  void moved_alike() {
    if (pair_.remote.text_too) {
      if (pair_.local.text_too) return edited_on_both(local().path);
      return pull(ActionKind::pull_update, local().path, "edited on the service");
    }
    settle(remote());
    if (pair_.local.text_too) push(ActionKind::push_update, local().path, "edited here");
  }

  void moved_here() {
    switch (pair_.remote.change) {
      case Change::unchanged:
        if (local().path == pair_.base.path) {
          // It lay beside its place, and went there by itself: the service has that name already.
          plan_.settled.push_back({.document = pair_.document, .base = pair_.base});
        } else {
          push_move("renamed here");
        }
        if (pair_.local.text_too) push(ActionKind::push_update, local().path, "edited here");
        return;
      case Change::edited:
        push_move("renamed here");
        if (pair_.local.text_too) return edited_on_both(local().path);
        return pull(ActionKind::pull_update, local().path, "edited on the service");
      case Change::deleted:
        if (pair_.folder_there) return conflict(ConflictCase::folder_at_old_name);
        if (pair_.local.text_too) return conflict(ConflictCase::edited_and_archived);
        // Without `accept_deletes`: see `is_created_anew`.
        return pull(ActionKind::pull_delete, local().path, "archived on the service, which wins over the change here");
      case Change::moved:
        return same_name(local().path, remote().path) ? moved_alike() : conflict(find_rename_case(both_sides()));
      case Change::created:
      case Change::unknown:
      case Change::rewound: return;
    }
  }

  const Pair& pair_;
  const ReconcileOptions& options_;
  Plan& plan_;
};

}  // namespace

bool is_created_anew(const Pair& pair, const ReconcileOptions& options) {
  return pair.local.change == Change::moved && !pair.local.text_too && pair.remote.change == Change::deleted &&
         !pair.folder_there && !options.accept_deletes;
}

bool is_kept_though_gone(const Pair& pair) {
  const bool is_here = pair.local.change == Change::unchanged || pair.local.change == Change::moved;
  return pair.left_out && pair.remote.change == Change::deleted && is_here && !pair.local.text_too;
}

void decide_pair(const Pair& pair, const ReconcileOptions& options, Plan& plan) {
  Decider(pair, options, plan).decide();
}

}  // namespace ws::sync
