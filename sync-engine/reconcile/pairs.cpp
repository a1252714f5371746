#include "sync-engine/reconcile/pairs.hpp"

#include <utility>

namespace ws::sync {
namespace {

/// One document's way through the table. Each method is one line of it, named by what happened here.
class Decider {
 public:
  Decider(const Pair& pair, const ReconcileOptions& options, Plan& plan)
      : pair_(pair), options_(options), plan_(plan) {}

  void decide() {
    if (pair_.here.change == Change::unknown || pair_.there.change == Change::unknown) return;  // `detached`
    if (pair_.there.change == Change::rewound) {
      if (changed(pair_.here) || pair_.there.entry) conflict(ConflictCase::document_went_back);
      return;
    }
    switch (pair_.here.change) {
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
  const Entry& here() const { return *pair_.here.entry; }
  const Entry& there() const { return *pair_.there.entry; }

  Action action(ActionKind kind, RelativePath path, std::string_view reason) const {
    Action made{.kind = kind, .path = std::move(path), .reason = reason, .document = pair_.document};
    if (pair_.here.entry) made.seen = here().hash;
    return made;
  }

  void pull(ActionKind kind, RelativePath path, std::string_view reason) {
    Action made = action(kind, std::move(path), reason);
    if (pair_.there.entry) {
      made.result = there().hash;
      made.revision = there().revision;
    }
    plan_.actions.push_back(std::move(made));
  }

  void pull_move(std::string_view reason) {
    Action made = action(ActionKind::pull_move, there().path, reason);
    made.previous_path = here().path;
    made.result =
        here().hash;  // a move carries the text that is on disk; an edit has a row, and the revision, of its own
    const bool whole = !pair_.there.edited() || there().hash == here().hash;
    made.revision = whole ? there().revision : pair_.base.revision;
    plan_.actions.push_back(std::move(made));
  }

  void push(ActionKind kind, RelativePath path, std::string_view reason) {
    Action made = action(kind, std::move(path), reason);
    if (pair_.here.entry) made.result = here().hash;
    made.revision = pair_.there.entry ? there().revision : pair_.base.revision;
    plan_.actions.push_back(std::move(made));
  }

  void push_move(std::string_view reason) {
    Action made = action(ActionKind::push_move, here().path, reason);
    made.previous_path = pair_.base.path;
    made.result = there().hash;
    made.revision = there().revision;
    plan_.actions.push_back(std::move(made));
  }

  Conflict both_sides() const {
    const RelativePath& path = pair_.here.entry ? here().path : pair_.there.entry ? there().path : pair_.base.path;
    return {.path = path,
            .document = pair_.document,
            .base = pair_.base,
            .local = pair_.here.entry,
            .remote = pair_.there.entry};
  }

  void conflict(ConflictCase which) {
    plan_.conflicts.push_back(both_sides());
    plan_.conflicts.back().which = which;
  }

  void settle(std::optional<Entry> base) {
    if (base && *base == pair_.base) return;
    plan_.settled.push_back({.document = pair_.document, .base = std::move(base)});
  }

  /// The file becomes a new document beside the folder that takes its place; its name is found later.
  void step_aside() {
    Action made = action(ActionKind::push_create, here().path, "its place became a folder on the service");
    made.document = {};
    made.previous_path = here().path;
    made.result = here().hash;
    plan_.actions.push_back(std::move(made));
    settle(std::nullopt);
  }

  /// Edited on both sides; the file is, or will be, at `path`.
  void edited_on_both(const RelativePath& path) {
    if (here().hash == there().hash) return settle(there());
    // Another text at the revision of the base: what it was made from nobody can know, so that nothing is merged.
    const bool is_fault = there().revision == pair_.base.revision && there().revision.is_known();
    if (!options_.merge || is_fault || options_.colliding.contains(pair_.document)) {
      // Nothing of a conflict moves, on either side.
      std::erase_if(plan_.actions, [&](const Action& each) { return each.document == pair_.document; });
      return conflict(find_text_case(both_sides()));
    }
    Action made = action(ActionKind::merge, path, "edited on both sides");
    made.revision = there().revision;
    plan_.actions.push_back(std::move(made));
  }

  /// What the service did, as the disk sees it: a file that lies elsewhere than its document tries to go home.
  Change seen_from_disk() const {
    const Change change = pair_.there.change;
    const bool stays = change == Change::unchanged || change == Change::edited;
    return stays && pair_.is_displaced() ? Change::moved : change;
  }

  void unchanged_here() {
    switch (seen_from_disk()) {
      case Change::edited: return pull(ActionKind::pull_update, here().path, "edited on the service");
      case Change::deleted: return pull(ActionKind::pull_delete, here().path, "archived on the service");
      case Change::moved:
        pull_move("moved on the service");
        if (pair_.there.edited()) pull(ActionKind::pull_update, there().path, "edited on the service");
        return;
      case Change::unchanged: return settle(there());
      case Change::created:
      case Change::unknown:
      case Change::rewound: return;
    }
  }

  void edited_here() {
    switch (seen_from_disk()) {
      case Change::unchanged: return push(ActionKind::push_update, here().path, "edited here");
      case Change::edited: return edited_on_both(here().path);
      case Change::deleted: return pair_.folder_there ? step_aside() : conflict(ConflictCase::edited_and_archived);
      case Change::moved:
        pull_move("moved on the service");
        if (!pair_.there.edited()) return push(ActionKind::push_update, there().path, "edited here");
        if (here().hash != there().hash) edited_on_both(there().path);
        return;
      case Change::created:
      case Change::unknown:
      case Change::rewound: return;
    }
  }

  void deleted_here() {
    switch (pair_.there.change) {
      case Change::unchanged: return push(ActionKind::push_delete, pair_.base.path, "deleted here");
      case Change::deleted: return settle(std::nullopt);
      case Change::moved:
        // Another document took its place there, and its text is the one that was deleted here.
        if (pair_.path_taken_there && !pair_.there.text_too)
          return push(ActionKind::push_delete, there().path, "deleted here");
        [[fallthrough]];
      case Change::edited:
        if (options_.accept_deletes) return push(ActionKind::push_delete, there().path, "deleted here, and that wins");
        return pull(ActionKind::pull_create,
                    there().path,
                    pair_.there.edited() ? "deleted here but edited on the service: it comes back"
                                         : "deleted here but moved on the service: it comes back");
      case Change::created:
      case Change::unknown:
      case Change::rewound: return;
    }
  }

  /// The name is agreed on at once; of the text only one side may have an edit that the other lacks.
  void moved_alike() {
    if (pair_.there.text_too) {
      if (pair_.here.text_too) return edited_on_both(here().path);
      return pull(ActionKind::pull_update, here().path, "edited on the service");
    }
    settle(there());
    if (pair_.here.text_too) push(ActionKind::push_update, here().path, "edited here");
  }

  void moved_here() {
    switch (pair_.there.change) {
      case Change::unchanged:
        push_move("renamed here");
        if (pair_.here.text_too) push(ActionKind::push_update, here().path, "edited here");
        return;
      case Change::edited:
        push_move("renamed here");
        if (pair_.here.text_too) return edited_on_both(here().path);
        return pull(ActionKind::pull_update, here().path, "edited on the service");
      case Change::deleted:
        if (pair_.folder_there) return conflict(ConflictCase::folder_at_old_name);
        if (pair_.here.text_too) return conflict(ConflictCase::edited_and_archived);
        // Without `accept_deletes` it is created anew, which `reconcile` sees to.
        return pull(ActionKind::pull_delete, here().path, "archived on the service, and that wins");
      case Change::moved:
        return same_name(here().path, there().path) ? moved_alike() : conflict(find_rename_case(both_sides()));
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
  return pair.here.change == Change::moved && !pair.here.text_too && pair.there.change == Change::deleted &&
         !pair.folder_there && !options.accept_deletes;
}

void decide_pair(const Pair& pair, const ReconcileOptions& options, Plan& plan) {
  Decider(pair, options, plan).decide();
}

}  // namespace ws::sync
