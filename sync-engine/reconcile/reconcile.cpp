#include "sync-engine/reconcile/reconcile.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "api-client/base/utf8.hpp"
#include "sync-engine/reconcile/clashes.hpp"
#include "sync-engine/reconcile/guard.hpp"
#include "sync-engine/reconcile/pairs.hpp"

namespace ws::sync {
namespace {

using ByKey = std::map<std::string, DocumentId>;

/// Where the documents that changed on the service stand now.
ByKey remote_places(const RemoteTree& remote) {
  ByKey places;
  for (const auto& [document, entry] : remote.changed) places.emplace(entry.path.twin_key(), document);
  return places;
}

/// The places of all documents of the service, made when first asked for.
class RemotePlaces {
 public:
  RemotePlaces(const BaseTree& base, const RemoteTree& remote) : base_(base), remote_(remote) {}

  bool any_at(const RelativePath& path) {
    if (!places_) fill();
    return places_->contains(path.twin_key());
  }

  bool any_beneath(const RelativePath& path) {
    if (!places_) fill();
    const std::string folder = path.twin_key() + "/";
    const auto below = places_->lower_bound(folder);
    return below != places_->end() && below->starts_with(folder);
  }

 private:
  void fill() {
    places_.emplace();
    for (const auto& [document, entry] : base_.documents) {
      const bool is_as_before = !remote_.changed.contains(document) && !remote_.gone.contains(document) &&
                                !remote_.moved_out.contains(document);
      if (is_as_before) places_->insert(entry.path.twin_key());
    }
    for (const auto& [document, entry] : remote_.changed) places_->insert(entry.path.twin_key());
  }

  const BaseTree& base_;
  const RemoteTree& remote_;
  std::optional<std::set<std::string>> places_;
};

/// Whether the service has the document at the place of the base, perhaps in another case.
bool same_place(const Pair& pair) { return pair.remote.entry->path.twin_key() == pair.base.path.twin_key(); }

/// Plans every document of the base. Returns those that are dropped from the base while their files stay: the files
/// become new documents.
std::vector<DocumentId> decide_known(const BaseTree& base,
                                     const LocalTree& local,
                                     const RemoteTree& remote,
                                     const ReconcileOptions& options,
                                     Plan& plan) {
  std::vector<DocumentId> anew;
  const ByKey places = remote_places(remote);
  RemotePlaces all_places(base, remote);
  for (const auto& [document, entry] : base.documents) {
    Pair pair{.document = document,
              .base = entry,
              .local = local_change(document, base, local),
              .remote = remote_change(document, entry, remote),
              .disk_path = base.disk_path(document),
              .left_out = base.left_out.contains(document)};
    if (pair.local.change == Change::unknown) {
      const SkipReason reason = local.unsyncable.at(document);
      plan.detached.push_back({.path = pair.disk_path, .document = document, .reason = std::string(name(reason))});
    } else if (pair.remote.change == Change::unknown) {
      plan.detached.push_back({.path = pair.disk_path, .document = document, .reason = "absent"});
    } else if (is_kept_though_gone(pair)) {
      plan.detached.push_back({.path = pair.local.entry->path, .document = document, .reason = "archived"});
      continue;
    }
    if (!places.empty()) {
      const std::string key = entry.path.twin_key();
      const auto taken = places.find(key);
      pair.path_taken_there = taken != places.end() && taken->second != document;
      const auto beneath = places.lower_bound(key + "/");
      pair.folder_there = beneath != places.end() && beneath->first.starts_with(key + "/");
    }
    // What replaced it may have been pulled by an earlier run.
    if (pair.local.change == Change::deleted && pair.remote.change == Change::moved)
      pair.path_taken_there = pair.path_taken_there || (!same_place(pair) && all_places.any_at(entry.path));
    const bool left_its_name = pair.local.change == Change::moved && pair.remote.change == Change::deleted;
    if (left_its_name && !pair.folder_there) pair.folder_there = all_places.any_beneath(entry.path);
    if (is_created_anew(pair, options)) {
      plan.settled.push_back({.document = document});
      anew.push_back(document);
      continue;
    }
    decide_pair(pair, options, plan);
  }
  return anew;
}

/// The local tree with the files of `documents` counted as new files.
LocalTree without(LocalTree local, const std::vector<DocumentId>& documents) {
  for (const DocumentId& document : documents) {
    const auto file = local.tracked.find(document);
    local.created.emplace(file->second.path, file->second.hash);
    local.tracked.erase(file);
  }
  return local;
}

/// New local files by their path in NFC.
using CreatedFiles = std::map<std::string, const std::pair<const RelativePath, Sha256>*>;

CreatedFiles created_files(const LocalTree& local) {
  CreatedFiles created;
  for (const auto& file : local.created) created.emplace(utf8::nfc(file.first.text()), &file);
  return created;
}

/// New files, new documents, and both at one path. `known`: the local tree before files were counted as new again.
void decide_created(
    const BaseTree& base, const LocalTree& known, const LocalTree& local, const RemoteTree& remote, Plan& plan) {
  std::optional<CreatedFiles> created;  // made when the first document arrives
  std::set<RelativePath> on_both_sides;
  for (const auto& [document, entry] : remote.changed) {
    if (base.documents.contains(document)) continue;
    if (!created) created = created_files(local);
    const auto both = created->find(utf8::nfc(entry.path.text()));
    if (both == created->end()) {
      plan.actions.push_back({.kind = ActionKind::pull_create,
                              .path = entry.path,
                              .reason = "created on the service",
                              .document = document,
                              .result = entry.hash,
                              .revision = entry.revision});
      continue;
    }
    const auto& [path, hash] = *both->second;
    created->erase(both);
    on_both_sides.insert(path);
    if (hash == entry.hash) {
      plan.actions.push_back({.kind = ActionKind::adopt,
                              .path = path,
                              .reason = "the same text on both sides",
                              .document = document,
                              .seen = hash,
                              .result = hash,
                              .revision = entry.revision});
    } else {
      plan.conflicts.push_back({.which = ConflictCase::created_on_both,
                                .path = path,
                                .document = document,
                                .local = Entry{.path = path, .hash = hash},
                                .remote = entry});
    }
  }
  for (const auto& [path, hash] : local.created) {
    if (on_both_sides.contains(path)) continue;
    const bool anew = known.created.size() != local.created.size() && !known.created.contains(path);
    plan.actions.push_back({.kind = ActionKind::push_create,
                            .path = path,
                            .reason = anew ? "renamed here but archived on the service: created again" : "created here",
                            .seen = hash,
                            .result = hash});
  }
}

/// A document left its path and another one took it: the file is replaced. That must not count as a delete.
void join_replacements(const LocalTree& local, Plan& plan) {
  std::map<RelativePath, std::size_t> leaving;
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    if (plan.actions[i].kind == ActionKind::pull_delete) leaving.emplace(plan.actions[i].path, i);
  }
  if (leaving.empty()) return;
  std::vector<bool> replaced(plan.actions.size(), false);
  for (Action& action : plan.actions) {
    if (action.kind != ActionKind::pull_create) continue;
    const auto left = leaving.find(action.path);
    if (left == leaving.end()) continue;
    const DocumentId old = plan.actions[left->second].document;
    replaced[left->second] = true;
    plan.settled.push_back({.document = old});
    action.seen = local.tracked.at(old).hash;
    action.reason = "another document has its name on the service now";
    if (action.seen != action.result) continue;
    action.kind = ActionKind::adopt;
    action.reason = "the service has the same text under a new id now";
  }
  std::vector<Action> kept;
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    if (!replaced[i]) kept.push_back(std::move(plan.actions[i]));
  }
  plan.actions = std::move(kept);
}

/// The same where the local file already has the path and text of the new document: no conflict is left.
void join_equal_replacements(Plan& plan) {
  std::optional<std::map<RelativePath, Action*>> arriving;  // made when the first conflict asks
  std::erase_if(plan.conflicts, [&](const Conflict& conflict) {
    const bool is_archived =
        conflict.which == ConflictCase::edited_and_archived || conflict.which == ConflictCase::folder_at_old_name;
    if (!is_archived) return false;
    if (!arriving) {
      arriving.emplace();
      for (Action& action : plan.actions) {
        if (action.kind == ActionKind::pull_create) arriving->emplace(action.path, &action);
      }
    }
    const auto found = arriving->find(conflict.path);
    if (found == arriving->end() || found->second->result != conflict.local->hash) return false;
    Action& action = *found->second;
    if (action.kind != ActionKind::pull_create) return false;
    action.kind = ActionKind::adopt;
    action.seen = conflict.local->hash;
    action.reason = "the same text on both sides";
    plan.settled.push_back({.document = conflict.document});
    return true;
  });
}

/// A document arrives at a path where a new local file has the same text: both sides renamed it alike.
void join_equal_arrivals(const LocalTree& local, Plan& plan) {
  std::set<RelativePath> joined;
  for (Action& action : plan.actions) {
    if (action.kind != ActionKind::pull_create || action.seen) continue;
    const auto there = local.created.find(action.path);
    if (there == local.created.end() || there->second != action.result) continue;
    action.kind = ActionKind::adopt;
    action.seen = there->second;
    action.reason = "the same text on both sides";
    joined.insert(action.path);
  }
  if (joined.empty()) return;
  std::erase_if(plan.actions, [&](const Action& action) {
    return action.kind == ActionKind::push_create && joined.contains(action.path);
  });
}

/// In order of path; the rows of one document stay in the order in which they are done.
void sort(Plan& plan) {
  const auto before = [](const Action& a, const Action& b) { return a.path < b.path; };
  // Most plans are in order already, and an action is large.
  if (!std::is_sorted(plan.actions.begin(), plan.actions.end(), before))
    std::stable_sort(plan.actions.begin(), plan.actions.end(), before);
  const auto by_path = [](const auto& a, const auto& b) {
    return std::tie(a.path, a.document) < std::tie(b.path, b.document);
  };
  std::sort(plan.conflicts.begin(), plan.conflicts.end(), by_path);
  std::sort(plan.detached.begin(), plan.detached.end(), by_path);
  std::sort(plan.settled.begin(), plan.settled.end());
  std::sort(plan.skipped.begin(), plan.skipped.end());
}

}  // namespace

Plan reconcile(const BaseTree& base,
               const LocalTree& local,
               const RemoteTree& remote,
               const ReconcileOptions& options) {
  Plan plan;
  plan.skipped = local.skipped;
  plan.skipped.insert(plan.skipped.end(), remote.refused.begin(), remote.refused.end());
  const std::vector<DocumentId> anew = decide_known(base, local, remote, options, plan);
  const std::optional<LocalTree> with_anew = anew.empty() ? std::nullopt : std::optional(without(local, anew));
  const LocalTree& here = with_anew ? *with_anew : local;
  decide_created(base, local, here, remote, plan);
  join_replacements(here, plan);
  join_equal_replacements(plan);
  join_equal_arrivals(here, plan);
  settle_clashes(base, here, remote, plan);
  sort(plan);
  if (!options.allow_deletes) plan.guard = guard_of(plan, count_in_sight(base), remote.absent.size(), options.half);
  return plan;
}

}  // namespace ws::sync
