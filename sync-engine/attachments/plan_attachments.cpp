#include "sync-engine/attachments/plan_attachments.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace ws::sync {
namespace {

enum class AttachmentChange { none, unchanged, edited, deleted, created, hidden };

/// Old path to new one; no path is in two of them.
using FileRenames = std::map<RelativePath, RelativePath>;

/// Which of the files that went is which of those that came with the same bytes. The names tell it: first the longest
/// common end of the paths (the folder was renamed), then the folder (the name was changed); what is left over is a
/// rename where it is one and one. Where a name tells of two, none of them is a rename.
class EqualFiles {
 public:
  EqualFiles(std::vector<RelativePath> went, std::vector<RelativePath> came)
      : went_(std::move(went)), came_(std::move(came)) {}

  void add_renames(FileRenames& renames) {
    if (went_.size() > 1 || came_.size() > 1) {
      for (std::size_t parts = max_parts(); parts > 0 && !is_done(); --parts) {
        pair_by([&](const RelativePath& path) { return last_parts(path, parts); }, renames);
      }
      pair_by([](const RelativePath& path) { return path.folder(); }, renames);
    }
    pair_by([](const RelativePath&) { return std::string_view(); }, renames);
  }

 private:
  bool is_done() const { return went_.empty() || came_.empty(); }

  std::size_t max_parts() const {
    std::size_t most = 0;
    for (const RelativePath& path : went_) most = std::max(most, parts_of(path));
    return most;
  }
  static std::size_t parts_of(const RelativePath& path) {
    return static_cast<std::size_t>(std::ranges::count(path.text(), '/')) + 1;
  }
  /// Empty: it has fewer.
  static std::optional<std::string_view> last_parts(const RelativePath& path, std::size_t parts) {
    std::string_view rest = path.text();
    for (std::size_t above = parts_of(path); above > parts; --above) rest.remove_prefix(rest.find('/') + 1);
    return parts_of(path) < parts ? std::nullopt : std::optional(rest);
  }

  /// Pairs those whose key no other one has on its side, and takes them out.
  template <class KeyOf>
  void pair_by(const KeyOf& key_of, FileRenames& renames) {
    const std::map<std::string_view, const RelativePath*> from = by_key(went_, key_of);
    const std::map<std::string_view, const RelativePath*> to = by_key(came_, key_of);
    std::set<RelativePath> paired;
    for (const auto& [key, path] : from) {
      const auto partner = to.find(key);
      if (path == nullptr || partner == to.end() || partner->second == nullptr) continue;
      renames.emplace(*path, *partner->second);
      paired.insert({*path, *partner->second});
    }
    const auto is_paired = [&](const RelativePath& path) { return paired.contains(path); };
    std::erase_if(went_, is_paired);
    std::erase_if(came_, is_paired);
  }

  /// Null: several have it.
  template <class KeyOf>
  static std::map<std::string_view, const RelativePath*> by_key(const std::vector<RelativePath>& paths,
                                                                const KeyOf& key_of) {
    std::map<std::string_view, const RelativePath*> found;
    for (const RelativePath& path : paths) {
      const std::optional<std::string_view> key = key_of(path);
      if (!key) continue;
      const auto [place, is_new] = found.emplace(*key, &path);
      if (!is_new) place->second = nullptr;
    }
    return found;
  }

  std::vector<RelativePath> went_;
  std::vector<RelativePath> came_;
};

using PathsOfBytes = std::map<Sha256, std::vector<RelativePath>>;

FileRenames renames_among(const PathsOfBytes& went, const PathsOfBytes& came) {
  FileRenames renames;
  for (const auto& [hash, paths] : went) {
    const auto found = came.find(hash);
    if (found != came.end()) EqualFiles(paths, found->second).add_renames(renames);
  }
  return renames;
}

class AttachmentPlanner {
 public:
  AttachmentPlanner(const AttachmentSides& sides, const AttachmentChoices& choices)
      : sides_(sides), choices_(choices) {}

  AttachmentPlan plan() {
    find_renames();
    collide_names();
    for (const auto& [from, to] : renamed_here_) plan_renamed_here(from, to);
    for (const auto& [from, to] : renamed_there_) plan_renamed_there(from, to);
    std::set<RelativePath> paths;
    for (const auto& [path, row] : sides_.base) paths.insert(path);
    for (const auto& [path, file] : sides_.local) paths.insert(path);
    for (const auto& [path, row] : sides_.remote) paths.insert(path);
    for (const RelativePath& path : paths) {
      if (replaced_.contains(path)) {
        plan_replaced(path);
      } else if (!handled_.contains(path)) {
        plan_path(path);
      }
    }
    wait_for_room();
    std::ranges::stable_sort(plan_.actions, {}, &Action::path);
    return std::move(plan_);
  }

 private:
  template <class Tree>
  static const typename Tree::mapped_type* find(const Tree& tree, const RelativePath& path) {
    const auto found = tree.find(path);
    return found == tree.end() ? nullptr : &found->second;
  }
  const Attachment* base(const RelativePath& path) const { return find(sides_.base, path); }
  const LocalAttachment* local(const RelativePath& path) const { return find(sides_.local, path); }
  const Attachment* remote(const RelativePath& path) const { return find(sides_.remote, path); }

  AttachmentChange here(const RelativePath& path) const {
    const LocalAttachment* const file = local(path);
    const Attachment* const known = base(path);
    if (file != nullptr && file->hidden) return AttachmentChange::hidden;
    if (file == nullptr) return known == nullptr ? AttachmentChange::none : AttachmentChange::deleted;
    if (known == nullptr) return AttachmentChange::created;
    if (replaced_.contains(path)) return AttachmentChange::deleted;
    return file->hash == known->hash ? AttachmentChange::unchanged : AttachmentChange::edited;
  }

  AttachmentChange there(const RelativePath& path) const {
    const Attachment* const row = remote(path);
    const Attachment* const known = base(path);
    if (row == nullptr) {
      if (known == nullptr) return AttachmentChange::none;
      return sides_.remote_is_whole ? AttachmentChange::deleted : AttachmentChange::unchanged;
    }
    if (known == nullptr) return AttachmentChange::created;
    return row->hash == known->hash ? AttachmentChange::unchanged : AttachmentChange::edited;
  }

  /// The number of the file tells first, then a name that differs only in case or Unicode form, then equal bytes.
  void find_renames() {
    for (const auto& [from, to] : sides_.moved_here) {
      // Where nothing changed there, an edit and a new file come to the same.
      const bool is_replaced = here(from) == AttachmentChange::edited && there(from) != AttachmentChange::unchanged;
      if (is_replaced && here(to) == AttachmentChange::created) replaced_.insert(from);
      if (here(from) == AttachmentChange::deleted && here(to) == AttachmentChange::created)
        renamed_here_.emplace(from, to);
    }
    std::map<std::string, RelativePath> names_here, names_there;
    for (const auto& [path, row] : sides_.base) {
      if (here(path) == AttachmentChange::deleted) names_here.emplace(path.twin_key(), path);
      if (there(path) == AttachmentChange::deleted) names_there.emplace(path.twin_key(), path);
    }
    std::set<RelativePath> known_here, known_there;
    for (const auto& [from, to] : renamed_here_) known_here.insert({from, to});
    const auto add_twin = [](const std::map<std::string, RelativePath>& names,
                             const RelativePath& to,
                             FileRenames& renames,
                             std::set<RelativePath>& known) {
      const auto from = names.find(to.twin_key());
      if (from == names.end() || known.contains(from->second) || known.contains(to)) return;
      renames.emplace(from->second, to);
      known.insert({from->second, to});
    };
    for (const auto& [path, file] : sides_.local) {
      if (here(path) == AttachmentChange::created) add_twin(names_here, path, renamed_here_, known_here);
    }
    for (const auto& [path, row] : sides_.remote) {
      if (there(path) == AttachmentChange::created) add_twin(names_there, path, renamed_there_, known_there);
    }
    find_equal(known_here, known_there);
  }

  void find_equal(const std::set<RelativePath>& known_here, const std::set<RelativePath>& known_there) {
    PathsOfBytes went_here, went_there, came_here, came_there;
    for (const auto& [path, row] : sides_.base) {
      if (here(path) == AttachmentChange::deleted && !known_here.contains(path)) went_here[row.hash].push_back(path);
      if (there(path) == AttachmentChange::deleted && !known_there.contains(path)) went_there[row.hash].push_back(path);
    }
    for (const auto& [path, file] : sides_.local) {
      if (here(path) == AttachmentChange::created && !known_here.contains(path)) came_here[file.hash].push_back(path);
    }
    for (const auto& [path, row] : sides_.remote) {
      if (there(path) == AttachmentChange::created && !known_there.contains(path)) came_there[row.hash].push_back(path);
    }
    renamed_here_.merge(renames_among(went_here, came_here));
    renamed_there_.merge(renames_among(went_there, came_there));
  }

  /// One file with two new names: a person chooses.
  void collide_names() {
    for (const auto& [from, to] : renamed_here_) {
      const auto found = renamed_there_.find(from);
      if (found == renamed_there_.end() || found->second == to) continue;
      const RelativePath& other = found->second;
      if (here(other) == AttachmentChange::hidden && there(to) == AttachmentChange::none) {
        leave_out(other, *local(other)->hidden);
        handled_.insert({from, to});
        continue;
      }
      const bool are_free = here(other) == AttachmentChange::none && there(to) == AttachmentChange::none;
      if (!are_free || local(to)->hash != remote(other)->hash) continue;
      plan_.collisions.push_back({.path = to,
                                  .base = *base(from),
                                  .local = *local(to),
                                  .remote = *remote(other),
                                  .from = from,
                                  .there = other});
      handled_.insert({from, to, other});
    }
  }

  void leave_out(const RelativePath& path, SkipReason why) {
    plan_.skipped.push_back({.path = path.string(), .reason = why});
    handled_.insert(path);
  }

  void plan_renamed_here(const RelativePath& from, const RelativePath& to) {
    const AttachmentChange change = there(from);
    const bool is_edited = local(to)->hash != base(from)->hash;
    if (is_edited && change != AttachmentChange::unchanged) return;
    if (there(to) != AttachmentChange::none) {
      // Renamed alike and edited there: ours are the bytes that both sides knew. Else the two that meet are compared.
      if (there(to) != AttachmentChange::created || change != AttachmentChange::deleted || is_alike(to)) return;
      add(ActionKind::pull_update,
          to,
          "renamed on both sides, edited on the service",
          local(to)->hash,
          remote(to)->hash);
      return settle_rename(from, to);
    }
    if (change == AttachmentChange::unchanged || change == AttachmentChange::edited) {
      add(ActionKind::push_move, to, "renamed here", local(to)->hash, base(from)->hash, from);
      if (is_edited) add(ActionKind::push_update, to, "edited here", local(to)->hash, local(to)->hash);
      if (change == AttachmentChange::edited)
        add(ActionKind::pull_update, to, "edited on the service", local(to)->hash, remote(from)->hash);
    } else if (change == AttachmentChange::deleted && !renamed_there_.contains(from)) {
      if (choices_.accept_deletes) {
        add(ActionKind::pull_delete, to, "deleted on the service", local(to)->hash, {});
      } else {
        add(ActionKind::push_create,
            to,
            "renamed here, deleted on the service: it is kept",
            local(to)->hash,
            local(to)->hash);
      }
      plan_.known_as.emplace(to, from);
      plan_.settled.emplace(from, std::nullopt);
    } else {
      return;
    }
    handled_.insert({from, to});
  }

  void plan_renamed_there(const RelativePath& from, const RelativePath& to) {
    if (handled_.contains(from) || handled_.contains(to)) return;
    // It has another name here, which is out of sight: it does not come under this one besides.
    const auto out = sides_.moved_out_of_sight.find(from);
    if (out != sides_.moved_out_of_sight.end()) {
      leave_out(to, out->second);
      handled_.insert(from);
      return;
    }
    const AttachmentChange change = here(from);
    const bool is_edited = remote(to)->hash != base(from)->hash;
    if (is_edited && change != AttachmentChange::unchanged) return;
    if (here(to) != AttachmentChange::none) {
      if (here(to) != AttachmentChange::created || change != AttachmentChange::deleted || is_alike(to)) return;
      add(ActionKind::push_update, to, "renamed on both sides, edited here", local(to)->hash, local(to)->hash);
      return settle_rename(from, to);
    }
    if (change == AttachmentChange::unchanged || change == AttachmentChange::edited) {
      add(ActionKind::pull_move, to, "renamed on the service", local(from)->hash, local(from)->hash, from);
      if (is_edited) add(ActionKind::pull_update, to, "edited on the service", local(from)->hash, remote(to)->hash);
      if (change == AttachmentChange::edited)
        add(ActionKind::push_update, to, "edited here", local(from)->hash, local(from)->hash);
    } else if (change == AttachmentChange::deleted && !renamed_here_.contains(from)) {
      plan_.known_as.emplace(to, from);
      if (!choices_.accept_deletes) return;
      add(ActionKind::push_delete, to, "deleted here", {}, {});
      plan_.settled.emplace(from, std::nullopt);
    } else {
      return;
    }
    handled_.insert({from, to});
  }

  bool is_alike(const RelativePath& path) const { return local(path)->hash == remote(path)->hash; }

  void settle_rename(const RelativePath& from, const RelativePath& to) {
    plan_.settled.emplace(from, std::nullopt);
    handled_.insert({from, to});
  }

  void plan_path(const RelativePath& path) {
    const AttachmentChange mine = here(path);
    const AttachmentChange theirs = there(path);
    if (mine == AttachmentChange::hidden) {
      plan_.skipped.push_back({.path = path.string(), .reason = *local(path)->hidden});
    } else if (base(path) != nullptr) {
      plan_known(path, mine, theirs);
    } else if (mine == AttachmentChange::none) {
      add(ActionKind::pull_create, path, "new on the service", {}, remote(path)->hash);
    } else if (theirs == AttachmentChange::none) {
      add(ActionKind::push_create, path, "new here", local(path)->hash, local(path)->hash);
    } else if (local(path)->hash == remote(path)->hash) {
      add(ActionKind::adopt, path, "the same bytes on both sides", local(path)->hash, local(path)->hash);
    } else {
      collide(path);
    }
  }

  /// A new file in the place of one that was renamed here.
  void plan_replaced(const RelativePath& path) {
    if (std::ranges::find(plan_.collisions, path, &AttachmentCollision::from) != plan_.collisions.end()) {
      // What both sides knew by this name has two new ones: it comes once a person has chosen.
      plan_.skipped.push_back({.path = path.string(), .reason = SkipReason::twin});
    } else if (remote(path) != nullptr && !handled_.contains(path)) {
      collide(path);
    } else {
      if (remote(path) == nullptr) plan_.settled.emplace(path, std::nullopt);
      add(ActionKind::push_create, path, "new here", local(path)->hash, local(path)->hash);
    }
  }

  void plan_known(const RelativePath& path, AttachmentChange mine, AttachmentChange theirs) {
    using enum AttachmentChange;
    if (sides_.left_out.contains(path)) {
      if (mine == deleted && remote(path) != nullptr) {
        return add(ActionKind::pull_create, path, "was left out here: it comes back", {}, remote(path)->hash);
      }
      if (mine == unchanged && theirs == deleted)
        return plan_.skipped.push_back({.path = path.string(), .reason = SkipReason::archived});
    }
    if (mine == unchanged && theirs == unchanged) {
      // Another Asset of the same bytes, or another type.
      if (remote(path) != nullptr && *remote(path) != *base(path)) plan_.settled.emplace(path, *remote(path));
    } else if (mine == edited && theirs == unchanged) {
      add(ActionKind::push_update, path, "edited here", local(path)->hash, local(path)->hash);
    } else if (mine == deleted && (theirs == unchanged || (theirs != deleted && choices_.accept_deletes))) {
      add(ActionKind::push_delete, path, "deleted here", {}, {});
    } else if (mine == unchanged && theirs == edited) {
      add(ActionKind::pull_update, path, "edited on the service", local(path)->hash, remote(path)->hash);
    } else if (mine == unchanged && theirs == deleted) {
      add(ActionKind::pull_delete, path, "deleted on the service", local(path)->hash, {});
    } else if (mine == deleted && theirs == deleted) {
      plan_.settled.emplace(path, std::nullopt);
    } else if (mine == edited && theirs == edited && local(path)->hash == remote(path)->hash) {
      plan_.settled.emplace(path, *remote(path));
    } else if (mine == deleted) {
      add(ActionKind::pull_create, path, "deleted here, edited on the service: it comes back", {}, remote(path)->hash);
    } else {
      collide(path);
    }
  }

  /// A disk has no room for a file and a folder of one name. One that was edited there and is a folder here is a
  /// conflict; else what comes waits, and so does what is new here in its place.
  void wait_for_room() {
    std::set<std::string, std::less<>> stays;
    for (const auto& [path, file] : sides_.local) stays.insert(path.string());
    for (const RelativePath& path : sides_.others_here) stays.insert(path.string());
    for (const Action& action : plan_.actions) {
      if (action.kind == ActionKind::pull_delete) stays.erase(action.path.string());
      if (action.kind == ActionKind::pull_move) stays.erase(action.previous_path->string());
    }
    std::set<std::string, std::less<>> waiting;
    for (const Action& action : std::vector<Action>(plan_.actions)) {
      if (action.kind != ActionKind::pull_create && action.kind != ActionKind::pull_move) continue;
      const std::set<std::string> in_the_way = obstacles(stays, action.path);
      const bool is_folder = sides_.folders_here.contains(action.path);
      if (in_the_way.empty() && !is_folder) continue;
      const bool is_folder_here = is_folder || in_the_way.begin()->size() > action.path.text().size();
      if (is_folder_here && base(action.path) != nullptr) {
        std::erase(plan_.actions, action);
        collide(action.path);
        continue;
      }
      waiting.insert(action.path.string());
      waiting.insert(in_the_way.begin(), in_the_way.end());
    }
    std::erase_if(plan_.actions, [&](const Action& action) {
      const bool comes_new = action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_move ||
                             action.kind == ActionKind::push_create;
      if (!comes_new || !waiting.contains(action.path.text())) return false;
      plan_.skipped.push_back({.path = action.path.string(), .reason = SkipReason::twin});
      return true;
    });
  }

  /// The file above `path`, or those below it, among files that stay.
  static std::set<std::string> obstacles(const std::set<std::string, std::less<>>& stays, const RelativePath& path) {
    const std::string_view text = path.text();
    for (std::size_t slash = text.find('/'); slash != std::string_view::npos; slash = text.find('/', slash + 1)) {
      if (stays.contains(text.substr(0, slash))) return {std::string(text.substr(0, slash))};
    }
    std::set<std::string> below;
    const std::string folder = path.string() + "/";
    for (auto next = stays.lower_bound(folder); next != stays.end() && next->starts_with(folder); ++next) {
      below.insert(*next);
    }
    return below;
  }

  void collide(const RelativePath& path) {
    AttachmentCollision collision{.path = path};
    if (const Attachment* const row = base(path)) collision.base = *row;
    if (const LocalAttachment* const file = local(path)) collision.local = *file;
    if (const Attachment* const row = remote(path)) collision.remote = *row;
    plan_.collisions.push_back(std::move(collision));
  }

  void add(ActionKind kind,
           const RelativePath& path,
           std::string_view reason,
           std::optional<Sha256> seen,
           std::optional<Sha256> result,
           std::optional<RelativePath> previous = {}) {
    plan_.actions.push_back({.kind = kind,
                             .path = path,
                             .reason = reason,
                             .previous_path = std::move(previous),
                             .seen = seen,
                             .result = result,
                             .attachment = true});
  }

  const AttachmentSides& sides_;
  const AttachmentChoices& choices_;
  AttachmentPlan plan_;
  FileRenames renamed_here_;
  FileRenames renamed_there_;
  std::set<RelativePath> replaced_;  ///< renamed here, with another file in the old place
  std::set<RelativePath> handled_;
};

}  // namespace

AttachmentPlan plan_attachments(const AttachmentSides& sides, const AttachmentChoices& choices) {
  return AttachmentPlanner(sides, choices).plan();
}

}  // namespace ws::sync
