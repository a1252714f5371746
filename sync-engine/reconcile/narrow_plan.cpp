#include "sync-engine/reconcile/narrow_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sync-engine/reconcile/overlapping_paths.hpp"

namespace ws::sync {
namespace {

bool is_push_move(const Action& action) { return action.kind == ActionKind::push_move; }

bool arrives_here(const Action& action) {
  return action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_move;
}

/// Where the disk has the file that this row takes away.
std::optional<RelativePath> place_left_here(const Action& action) {
  if (action.kind == ActionKind::pull_delete) return action.path;
  return is_push_move(action) ? std::nullopt : action.previous_path;  // of a `push_create`: it steps aside first
}

class Narrower {
 public:
  Narrower(Plan& plan,
           const BaseTree& base,
           const RemoteTree& remote,
           const WantedPath& wanted,
           const std::set<DocumentId>& wanted_documents)
      : plan_(plan), base_(base), remote_(remote), wanted_(wanted), wanted_documents_(wanted_documents) {}

  void narrow() {
    for (std::size_t i = 0; i < plan_.actions.size(); ++i) {
      if (!is_wanted(plan_.actions[i].path, plan_.actions[i].document)) leave_out(i);
    }
    if (!unfollowed_.empty()) {
      index_actions();
      while (!unfollowed_.empty()) {
        const std::size_t next = unfollowed_.back();
        unfollowed_.pop_back();
        leave_out_what_follows(plan_.actions[next]);
      }
      take_out();
    }
    const auto erased = std::erase_if(
        plan_.conflicts, [&](const Conflict& conflict) { return !is_wanted(conflict.path, conflict.document); });
    plan_.partial = plan_.partial || erased > 0;
    std::erase_if(plan_.settled, [&](const Settled& settled) { return is_left_out(settled); });
  }

 private:
  bool is_wanted(const RelativePath& path, const DocumentId& document) const {
    return wanted_(path) || wanted_documents_.contains(document);
  }

  void leave_out(std::size_t place) {
    if (!out_.insert(place).second) return;
    plan_.partial = true;
    unfollowed_.push_back(place);
  }

  void index_actions() {
    for (std::size_t i = 0; i < plan_.actions.size(); ++i) {
      const Action& action = plan_.actions[i];
      if (!action.document.empty()) of_document_.emplace(action.document, i);
      const bool arrives_there = action.kind == ActionKind::push_create || is_push_move(action);
      if (arrives_there) arriving_there_.emplace(action.path.twin_key(), i);
      if (arrives_here(action)) arriving_here_.emplace(action.path.twin_key(), i);
    }
  }

  void take_out() {
    std::vector<Action> kept;
    kept.reserve(plan_.actions.size() - out_.size());
    for (std::size_t i = 0; i < plan_.actions.size(); ++i) {
      if (!out_.contains(i)) kept.push_back(std::move(plan_.actions[i]));
    }
    plan_.actions = std::move(kept);
  }

  /// Its document waits, and the places that it would have left stay taken.
  void leave_out_what_follows(const Action& action) {
    if (!action.document.empty() && documents_.insert(action.document).second) {
      const auto [first, last] = of_document_.equal_range(action.document);
      for (auto each = first; each != last; ++each) leave_out(each->second);
    }
    disk_paths_.insert(action.path);
    if (action.previous_path && !is_push_move(action)) disk_paths_.insert(*action.previous_path);
    const auto leave_out_each = [this](const auto& each) { leave_out(each->second); };
    if (const auto place = place_left_here(action))
      visit_overlapping(arriving_here_, place->twin_key(), leave_out_each);
    if (const auto place = place_left_there(action))
      visit_overlapping(arriving_there_, place->twin_key(), leave_out_each);
  }

  /// Where the service has the document that this row takes away.
  std::optional<RelativePath> place_left_there(const Action& action) const {
    if (!is_push_move(action) && action.kind != ActionKind::push_delete) return std::nullopt;
    if (const auto now = remote_.changed.find(action.document); now != remote_.changed.end()) return now->second.path;
    return base_.documents.at(action.document).path;
  }

  bool is_left_out(const Settled& settled) const {
    const RelativePath& path = settled.base ? settled.base->path : base_.disk_path(settled.document);
    if (!is_wanted(path, settled.document) || documents_.contains(settled.document)) return true;
    // It is forgotten because of what a row does to its file.
    return !settled.base && disk_paths_.contains(path);
  }

  Plan& plan_;
  const BaseTree& base_;
  const RemoteTree& remote_;
  const WantedPath& wanted_;
  const std::set<DocumentId>& wanted_documents_;
  std::set<DocumentId> documents_;       // of what is left out
  std::set<RelativePath> disk_paths_;    // that it is about
  std::set<std::size_t> out_;            // places of the actions that are left out
  std::vector<std::size_t> unfollowed_;  // of them, those whose followers are not looked for yet
  std::multimap<DocumentId, std::size_t> of_document_;
  std::multimap<std::string, std::size_t> arriving_here_;   // by twin key
  std::multimap<std::string, std::size_t> arriving_there_;  // by twin key
};

}  // namespace

std::set<DocumentId> with_those_in_the_way(const Plan& plan, std::set<DocumentId> documents) {
  std::multimap<DocumentId, const Action*> arriving;
  std::multimap<std::string, const Action*> leaving;  // by twin key
  for (const Action& action : plan.actions) {
    if (arrives_here(action)) arriving.emplace(action.document, &action);
    if (const auto place = place_left_here(action)) leaving.emplace(place->twin_key(), &action);
  }
  std::vector<DocumentId> asked(documents.begin(), documents.end());
  while (!asked.empty()) {
    const auto [first, last] = arriving.equal_range(asked.back());
    asked.pop_back();
    for (auto each = first; each != last; ++each) {
      visit_overlapping(leaving, each->second->path.twin_key(), [&](const auto& other) {
        const DocumentId& document = other->second->document;
        if (!document.empty() && documents.insert(document).second) asked.push_back(document);
      });
    }
  }
  return documents;
}

void narrow_plan(Plan& plan,
                 const BaseTree& base,
                 const RemoteTree& remote,
                 const WantedPath& wanted,
                 const std::set<DocumentId>& documents) {
  Narrower(plan, base, remote, wanted, documents).narrow();
}

}  // namespace ws::sync
