#include "sync-engine/reconcile/narrow_plan.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "sync-engine/reconcile/surroundings.hpp"

namespace ws::sync {
namespace {

class Narrower {
 public:
  Narrower(Plan& plan, const BaseTree& base, const RemoteTree& remote, const WantedPath& wanted)
      : plan_(plan), base_(base), remote_(remote), wanted_(wanted) {}

  void narrow() {
    bool any = leave_out([&](const Action& action) { return !wanted_(action.path); });
    while (any) any = leave_out([&](const Action& action) { return waits(action); });
    const auto erased =
        std::erase_if(plan_.conflicts, [&](const Conflict& conflict) { return !wanted_(conflict.path); });
    plan_.partial = plan_.partial || erased > 0;
    std::erase_if(plan_.settled, [&](const Settled& settled) { return is_left_out(settled); });
  }

 private:
  template <class IsLeftOut>
  bool leave_out(IsLeftOut is_left_out) {
    const auto first = std::stable_partition(
        plan_.actions.begin(), plan_.actions.end(), [&](const Action& action) { return !is_left_out(action); });
    if (first == plan_.actions.end()) return false;
    plan_.partial = true;
    for (auto action = first; action != plan_.actions.end(); ++action) note(*action);
    plan_.actions.erase(first, plan_.actions.end());
    return true;
  }

  /// Its document waits, and the places that it would have left stay taken.
  void note(const Action& action) {
    if (!action.document.empty()) documents_.insert(action.document);
    disk_paths_.insert(action.path);
    if (action.previous_path && !is_push_move(action)) disk_paths_.insert(*action.previous_path);
    if (const auto place = place_left_here(action)) taken_here_.add(place->twin_key());
    if (const auto place = place_left_there(action)) taken_there_.add(place->twin_key());
  }

  static bool is_push_move(const Action& action) { return action.kind == ActionKind::push_move; }

  /// Where the disk has the file that this row takes away.
  static std::optional<RelativePath> place_left_here(const Action& action) {
    if (action.kind == ActionKind::pull_delete) return action.path;
    return is_push_move(action) ? std::nullopt : action.previous_path;  // of a `push_create`: it steps aside first
  }

  /// Where the service has the document that this row takes away.
  std::optional<RelativePath> place_left_there(const Action& action) const {
    if (!is_push_move(action) && action.kind != ActionKind::push_delete) return std::nullopt;
    if (const auto now = remote_.changed.find(action.document); now != remote_.changed.end()) return now->second.path;
    return base_.documents.at(action.document).path;
  }

  bool waits(const Action& action) const {
    if (documents_.contains(action.document)) return true;
    switch (action.kind) {
      case ActionKind::push_create:
      case ActionKind::push_move: return taken_there_.touch(action.path.twin_key());
      case ActionKind::pull_create:
      case ActionKind::pull_move: return taken_here_.touch(action.path.twin_key());
      case ActionKind::push_update:
      case ActionKind::push_delete:
      case ActionKind::pull_update:
      case ActionKind::pull_delete:
      case ActionKind::conflict:
      case ActionKind::unchanged:
      case ActionKind::merge:
      case ActionKind::adopt: return false;
    }
    return false;
  }

  bool is_left_out(const Settled& settled) const {
    const RelativePath& path = settled.base ? settled.base->path : base_.disk_path(settled.document);
    if (!wanted_(path) || documents_.contains(settled.document)) return true;
    // It is forgotten because of what a row does to its file.
    return !settled.base && disk_paths_.contains(path);
  }

  Plan& plan_;
  const BaseTree& base_;
  const RemoteTree& remote_;
  const WantedPath& wanted_;
  std::set<DocumentId> documents_;     // of what is left out
  std::set<RelativePath> disk_paths_;  // that it is about
  Surroundings taken_here_;
  Surroundings taken_there_;
};

}  // namespace

void narrow_plan(Plan& plan, const BaseTree& base, const RemoteTree& remote, const WantedPath& wanted) {
  Narrower(plan, base, remote, wanted).narrow();
}

}  // namespace ws::sync
