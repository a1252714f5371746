#include "sync-engine/attachments/plan_attachments.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sync-engine/reconcile/identify.hpp"
#include "sync-engine/reconcile/reconcile.hpp"

namespace ws::sync {
namespace {

/// What the planner of documents knows files by: numbers, in the order in which their paths are asked for.
class FileNumbers {
 public:
  /// `prefix` tells these numbers from others, and how they sort among them.
  explicit FileNumbers(char prefix) : prefix_(prefix) {}
  const DocumentId& operator()(const RelativePath& path) {
    const auto [known, is_new] = of_paths_.try_emplace(path);
    if (is_new) known->second = DocumentId(fmt::format("{}{:015}", prefix_, of_paths_.size()));
    return known->second;
  }

 private:
  char prefix_;
  std::map<RelativePath, DocumentId> of_paths_;
};

/// Where the words of documents do not fit.
std::string_view reason_for_files(std::string_view reason) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"archived on the service", "deleted on the service"},
      {"archived on the service, which wins over the change here",
       "deleted on the service, which wins over the change here"},
      {"renamed here but archived on the service: created again",
       "renamed here but deleted on the service: created again"},
      {"the same text on both sides", "the same bytes on both sides"}};
  for (const auto& [of_documents, of_files] : words) {
    if (reason == of_documents) return of_files;
  }
  return reason;
}

/// Files as documents: to the planner and back. What differs: their bytes cannot be merged, so that a rename and edits
/// on both sides are two files (`part`), and what finds no room waits.
class FilePlanner {
 public:
  FilePlanner(const AttachmentSides& sides, const AttachmentChoices& choices) : sides_(sides), choices_(choices) {}

  AttachmentPlan plan() {
    for (const auto& [path, row] : sides_.base) base_.documents.emplace(id_of_(path), entry_of(path, row.hash));
    LocalTree listed = identify_there();  // before the marks: a rule here explains nothing of the list
    for (const RelativePath& path : sides_.left_out) base_.left_out.insert(id_of_(path));
    find_here();
    find_there(std::move(listed));
    for (const auto& [document, entry] : base_.documents) {
      join(document);
      if (is_apart(document, entry)) part(document, entry);
    }
    Plan plan = reconcile(
        base_, local_, remote_, {.merge = false, .accept_deletes = choices_.accept_deletes, .allow_deletes = true});
    for (const Action& action : plan.actions) {
      if (steps_aside(action)) collide(*action.previous_path);
    }
    for (const Conflict& conflict : plan.conflicts) take(conflict);
    for (const Settled& settled : plan.settled) take(settled);
    for (Action& action : plan.actions) take(std::move(action));
    for (const Detached& each : plan.detached) {
      const RelativePath* const there = find(out_of_sight_there_, each.document);
      const RelativePath& path = there == nullptr ? each.path : *there;
      plan_.skipped.push_back({.path = path.string(), .reason = *find_skip_reason(each.reason)});
    }
    for (Skipped& each : plan.skipped) plan_.skipped.push_back(std::move(each));
    settle_other_rows();
    tell_waiting();
    std::ranges::stable_sort(plan_.actions, {}, &Action::path);
    std::ranges::sort(plan_.skipped);
    plan_.skipped.erase(std::unique(plan_.skipped.begin(), plan_.skipped.end()), plan_.skipped.end());
    return std::move(plan_);
  }

 private:
  static Entry entry_of(const RelativePath& path, const Sha256& hash) { return {.path = path, .hash = hash}; }

  template <class Tree, class Key>
  static const typename Tree::mapped_type* find(const Tree& tree, const Key& key) {
    const auto found = tree.find(key);
    return found == tree.end() ? nullptr : &found->second;
  }
  const Attachment* base(const RelativePath& path) const { return find(sides_.base, path); }
  const Attachment* remote(const RelativePath& path) const { return find(sides_.remote, path); }
  const LocalAttachment* local(const RelativePath& path) const { return find(sides_.local, path); }
  std::optional<SkipReason> hidden_at(const RelativePath& path) const {
    const LocalAttachment* const file = local(path);
    return file == nullptr ? std::nullopt : file->hidden;
  }

  void find_here() {
    FoundTree found;
    for (const auto& [path, file] : sides_.local) {
      if (!file.hidden) {
        found.files.push_back({.path = path, .hash = file.hash, .id = file.file});
      } else if (base(path) != nullptr) {
        found.closed.push_back({.path = path.string(), .reason = *file.hidden});
      } else {
        plan_.skipped.push_back({.path = path.string(), .reason = *file.hidden});
      }
    }
    local_ = identify(base_,
                      found,
                      {.renames = {.files = [this] { return numbers_of_missing(); },
                                   .written = [this] { return files_of_replaced(); }}});
    for (const std::set<RelativePath>* const others : {&sides_.others_here, &sides_.folders_here}) {
      for (const RelativePath& path : *others) {
        if (local(path) == nullptr || hidden_at(path)) local_.obstacles.insert(path);
      }
    }
  }

  /// Not of one that lies at the place of another: the list knows that as an edit of the other.
  std::map<DocumentId, FileId> numbers_of_missing() {
    std::set<FileId> at_home;
    for (const auto& [path, row] : sides_.base) {
      if (const LocalAttachment* const file = local(path)) at_home.insert(file->file.number());
    }
    std::map<DocumentId, FileId> numbers;
    for (const auto& [path, file] : sides_.files_known) {
      if (local(path) != nullptr) continue;
      if (at_home.contains(file.number())) {
        renamed_.insert(id_of_(path));
      } else {
        numbers.emplace(id_of_(path), file);
      }
    }
    return numbers;
  }

  /// Files that have another name now while another one has the old one. Where nothing changed there, an edit and a new
  /// file come to the same.
  std::map<DocumentId, WrittenFile> files_of_replaced() {
    std::map<FileId, RelativePath> replaced;
    for (const auto& [path, file] : sides_.files_known) {
      const LocalAttachment* const now = local(path);
      const Attachment* const there = remote(path);
      const Attachment* const known = base(path);
      const bool is_same_there = there != nullptr && known != nullptr && there->hash == known->hash;
      if (now != nullptr && !now->hidden && now->file != file && !is_same_there) replaced.emplace(file, path);
    }
    std::map<DocumentId, WrittenFile> moved;
    if (replaced.empty()) return moved;
    for (const auto& [path, file] : sides_.local) {
      const auto from = replaced.find(file.file);
      if (file.hidden || base(path) != nullptr || from == replaced.end() || file.file.born_ns == 0) continue;
      moved.emplace(id_of_(from->second), WrittenFile{.path = path, .id = file.file, .text = file.hash});
    }
    return moved;
  }

  LocalTree identify_there() const {
    FoundTree found;
    for (const auto& [path, row] : sides_.remote) found.files.push_back({.path = path, .hash = row.hash});
    for (const auto& [path, row] : sides_.base) {
      if (!sides_.remote_is_whole && remote(path) == nullptr) found.files.push_back({.path = path, .hash = row.hash});
    }
    return identify(base_, found);
  }

  void find_there(LocalTree there) {
    remote_.refused = std::move(there.skipped);
    for (const auto& [document, entry] : base_.documents) {
      const Entry* const now = find(there.tracked, document);
      if (now == nullptr) {
        if (!there.unsyncable.contains(document)) remote_.gone.emplace(document, DocumentRevision());
      } else if (const auto why = hidden_at(now->path); why && now->path != entry.path) {
        // Renamed there to a name that is out of sight here.
        local_.tracked.erase(document);
        local_.unsyncable.emplace(document, *why);
        out_of_sight_there_.emplace(document, now->path);
      } else if (*now != entry) {
        remote_.changed.emplace(document, *now);
      }
    }
    for (const auto& [path, hash] : there.created) {
      if (!hidden_at(path)) remote_.changed.emplace(new_id_of_(path), entry_of(path, hash));
    }
  }

  /// Renamed on one side, and gone on the other, where a new file has the same new name: renamed alike.
  void join(const DocumentId& document) {
    const Entry* const here = find(local_.tracked, document);
    const Entry* const there = find(remote_.changed, document);
    if (here != nullptr && remote_.gone.contains(document)) {
      const auto arrives = remote_.changed.find(new_id_of_(here->path));
      if (arrives == remote_.changed.end()) return;
      remote_.gone.erase(document);
      remote_.changed.emplace(document, std::move(arrives->second));
      remote_.changed.erase(arrives);
    } else if (there != nullptr && here == nullptr && !local_.unsyncable.contains(document)) {
      const auto created = local_.created.find(there->path);
      if (created == local_.created.end()) return;
      local_.tracked.emplace(document, entry_of(created->first, created->second));
      local_.created.erase(created);
    }
  }

  /// Whether what is one file by its name or number has to be two: each side's.
  bool is_apart(const DocumentId& document, const Entry& known) const {
    const Entry* const here = find(local_.tracked, document);
    const Entry* const there = find(remote_.changed, document);
    const bool is_gone_here = here == nullptr && !local_.unsyncable.contains(document);
    const bool is_gone_there = remote_.gone.contains(document);
    const bool moved_here = here != nullptr && here->path != known.path;
    const bool moved_there = there != nullptr && there->path != known.path;
    if (!moved_here && !moved_there) return false;
    const bool edited_here = here != nullptr && here->hash != known.hash;
    const bool edited_there = there != nullptr && there->hash != known.hash;
    const bool is_alike = moved_here && moved_there && here->path == there->path;
    const auto out = local_.unsyncable.find(document);
    // Moved there out of what is left out here: it arrives.
    if (moved_there && out != local_.unsyncable.end() && out->second == SkipReason::left_out) return true;
    // In another case or Unicode form it is one file for everybody: a conflict of its bytes.
    const std::string key = known.path.twin_key();
    const bool is_one_name =
        (!moved_here || here->path.twin_key() == key) && (!moved_there || there->path.twin_key() == key);
    if (edited_here && edited_there) return !is_one_name;
    if (moved_here && moved_there && !is_alike && (edited_here || edited_there)) return true;
    if (moved_here && is_gone_there && (edited_here || is_folder_there(known.path))) return true;
    if (moved_there && is_gone_here && edited_there) return true;
    // Another file has the new name on the other side.
    const bool is_taken_there = moved_here && !is_alike && remote(here->path) != nullptr;
    return is_taken_there || (moved_there && !is_alike && local(there->path) != nullptr);
  }

  bool is_folder_there(const RelativePath& path) const { return is_beneath(sides_.remote, path); }
  bool is_folder_here(const RelativePath& path) const {
    return sides_.folders_here.contains(path) || is_beneath(sides_.local, path);
  }
  template <class Tree>
  static bool is_beneath(const Tree& tree, const RelativePath& path) {
    const std::string folder = path.string() + "/";
    return std::ranges::any_of(tree, [&](const auto& each) { return each.first.text().starts_with(folder); });
  }

  void part(const DocumentId& document, const Entry& known) {
    if (const Entry* const there = find(remote_.changed, document); there != nullptr && there->path != known.path) {
      remote_.changed.emplace(new_id_of_(there->path), *there);
      remote_.changed.erase(document);
      remote_.gone.emplace(document, DocumentRevision());
    }
    const Entry* const here = find(local_.tracked, document);
    if (here == nullptr || here->path == known.path) return;
    local_.created.emplace(here->path, here->hash);
    local_.tracked.erase(document);
    renamed_.insert(document);
    const auto at_home = local_.created.find(known.path);
    if (at_home == local_.created.end() || remote_.gone.contains(document)) return;
    local_.tracked.emplace(document, entry_of(known.path, at_home->second));
    local_.created.erase(at_home);
  }

  void take(const Conflict& conflict) {
    using enum ConflictCase;
    const bool is_of_names = conflict.which == renamed_on_both || conflict.which == renamed_on_both_kept_here;
    const bool has_room = !conflict.is_about(ConflictSubject::place);
    if (is_of_names && conflict.base && conflict.local && conflict.remote) {
      const RelativePath& from = conflict.base->path;
      const RelativePath& there = conflict.remote->path;
      plan_.collisions.push_back({.path = conflict.path,
                                  .base = *base(from),
                                  .local = *local(conflict.path),
                                  .remote = *remote(there),
                                  .from = from,
                                  .there = there});
      // What both sides knew by this name has two new ones: a file that has it now comes once a person has chosen.
      waiting_.insert(from);
    } else if (has_room && conflict.base && conflict.local && conflict.remote) {
      const RelativePath& known = conflict.base->path;
      plan_.collisions.push_back({.path = conflict.path,
                                  .base = *base(known),
                                  .local = *local(conflict.path),
                                  .remote = *remote(conflict.remote->path),
                                  .from = known == conflict.path ? std::nullopt : std::optional(known)});
    } else if (has_room || (is_folder_here(conflict.path) && base(conflict.path) != nullptr)) {
      collide(conflict.path);
    } else {
      take_place(conflict.path, conflict.which == folder_there, conflict.remote);
    }
  }

  /// A file and a folder want one place: a person decides about the file, what is in the folder waits. Other things in
  /// the way are waited for.
  void take_place(const RelativePath& path, bool is_folder_on_service, const std::optional<Entry>& there) {
    const LocalAttachment* const file = local(path);
    const Attachment* const row = there ? remote(there->path) : nullptr;
    const bool is_file_here = is_folder_on_service && file != nullptr;
    if (is_file_here) {
      collide({.path = path, .local = *file});
    } else if (file != nullptr) {
      wait(path);
    }
    if (!is_file_here && row != nullptr && is_folder_here(there->path)) {
      collide({.path = there->path, .remote = *row});
    } else if (there) {
      wait(there->path);
    }
  }

  /// There, a folder is to be in the place of an edited file.
  static bool steps_aside(const Action& action) {
    return action.kind == ActionKind::push_create && action.previous_path;
  }

  bool is_collision(const RelativePath& path) const {
    return std::ranges::find(plan_.collisions, path, &AttachmentCollision::path) != plan_.collisions.end();
  }
  bool is_below_collision(const RelativePath& path) const {
    for (std::string_view above = parent_folder(path.text()); !above.empty(); above = parent_folder(above)) {
      if (is_collision(*RelativePath::parse(above))) return true;
    }
    return false;
  }

  void collide(const RelativePath& path) {
    AttachmentCollision collision{.path = path};
    if (const Attachment* const row = base(path)) collision.base = *row;
    if (const LocalAttachment* const file = local(path)) collision.local = *file;
    if (const Attachment* const row = remote(path)) collision.remote = *row;
    collide(std::move(collision));
  }
  void collide(AttachmentCollision collision) {
    if (!is_collision(collision.path)) plan_.collisions.push_back(std::move(collision));
  }

  void wait(const RelativePath& path) {
    waiting_.insert(path);
    plan_.skipped.push_back({.path = path.string(), .reason = SkipReason::twin});
  }

  void take(const Settled& settled) {
    const RelativePath& known = base_.documents.at(settled.document).path;
    const Entry* const here = find(local_.tracked, settled.document);
    if (settled.base && settled.base->path == known) {
      plan_.settled.emplace(known, *remote(known));
      return;
    }
    plan_.settled.emplace(known, std::nullopt);
    if (here == nullptr || here->path == known) return;
    if (!settled.base) {
      plan_.known_as.emplace(here->path, known);
    } else if (here->hash == settled.base->hash) {
      add(ActionKind::adopt, here->path, "the same bytes on both sides", here->hash, here->hash);
    }
  }

  void take(Action action) {
    const Entry* const known = find(base_.documents, action.document);
    if (steps_aside(action)) {
      plan_.settled.erase(*action.previous_path);
      return;
    }
    if (action.service_path) return is_collision(*action.service_path) ? void() : wait(*action.service_path);
    const bool arrives = action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_move;
    if (action.kind == ActionKind::push_delete && !may_go(action)) {
      action.kind = ActionKind::pull_create;
      action.result = remote(action.path)->hash;
      action.reason = "deleted here but edited on the service: it comes back";
    }
    if (waiting_.contains(action.path) || (arrives && is_below_collision(action.path))) return wait(action.path);
    if (action.kind == ActionKind::pull_create && action.seen) action.kind = ActionKind::pull_update;
    if (action.kind == ActionKind::push_move) action.result = known->hash;
    if (known != nullptr && known->path != action.path && !moves(action)) {
      plan_.settled.emplace(known->path, std::nullopt);
      if (action.kind != ActionKind::pull_update && action.kind != ActionKind::push_update)
        plan_.known_as.emplace(action.path, known->path);
    }
    add(action.kind, action.path, action.reason, action.seen, action.result, std::move(action.previous_path));
  }

  /// Whether nobody wants what an accepted deletion takes away: it was renamed here and not deleted, or what the
  /// service has by its name now was another file there.
  bool may_go(const Action& action) const {
    const Attachment* const there = remote(action.path);
    const Attachment* const known = base(action.path);
    if (there == nullptr || known == nullptr || there->hash == known->hash) return true;
    const bool came_from_elsewhere = std::ranges::any_of(sides_.base, [&](const auto& each) {
      const Attachment* const now = remote(each.first);
      return each.first != action.path && each.second.hash == there->hash &&
             (now == nullptr || now->hash != there->hash);
    });
    return !renamed_.contains(action.document) && !came_from_elsewhere;
  }

  /// Whether a rename of its file is in the plan: then the base follows that.
  bool moves(const Action& action) const {
    const Entry* const here = find(local_.tracked, action.document);
    const Entry* const there = find(remote_.changed, action.document);
    const RelativePath& known = base_.documents.at(action.document).path;
    const bool moved_here = here != nullptr && here->path != known;
    const bool moved_there = there != nullptr && there->path != known;
    return here != nullptr && moved_here != moved_there && !remote_.gone.contains(action.document);
  }

  void add(ActionKind kind,
           const RelativePath& path,
           std::string_view reason,
           std::optional<Sha256> seen,
           std::optional<Sha256> result,
           std::optional<RelativePath> previous = {}) {
    plan_.actions.push_back({.kind = kind,
                             .path = path,
                             .reason = reason_for_files(reason),
                             .previous_path = std::move(previous),
                             .seen = seen,
                             .result = result,
                             .attachment = true});
  }

  /// Another Asset of the same bytes, or another type.
  void settle_other_rows() {
    for (const auto& [path, known] : sides_.base) {
      const Attachment* const there = remote(path);
      const LocalAttachment* const here = local(path);
      const bool is_same_here = here != nullptr && !here->hidden && here->hash == known.hash;
      if (there != nullptr && is_same_here && there->hash == known.hash && *there != known)
        plan_.settled.emplace(path, *there);
    }
  }

  /// New files here in the place of what comes wait as well.
  void tell_waiting() {
    std::set<RelativePath> told;
    for (const Action& action : plan_.actions) told.insert(action.path);
    for (const AttachmentCollision& each : plan_.collisions) told.insert(each.path);
    for (const auto& [path, hash] : local_.created) {
      if (!told.contains(path)) plan_.skipped.push_back({.path = path.string(), .reason = SkipReason::twin});
    }
  }

  const AttachmentSides& sides_;
  const AttachmentChoices& choices_;
  FileNumbers id_of_{'b'};      ///< of the base
  FileNumbers new_id_of_{'a'};  ///< new on the service
  BaseTree base_;
  LocalTree local_;
  RemoteTree remote_;
  std::map<DocumentId, RelativePath> out_of_sight_there_;  ///< renamed there to a name that is not synced here
  std::set<DocumentId> renamed_;                           ///< not deleted here, though no file has their name
  std::set<RelativePath> waiting_;
  AttachmentPlan plan_;
};

}  // namespace

AttachmentPlan plan_attachments(const AttachmentSides& sides, const AttachmentChoices& choices) {
  return FilePlanner(sides, choices).plan();
}

AttachmentSides sides_after_pulls(AttachmentSides sides, const AttachmentPlan& plan) {
  for (const Action& action : plan.actions) {
    if (!is_pull(action.kind)) continue;
    const RelativePath from = action.previous_path.value_or(action.path);
    auto file = sides.local.extract(from);
    sides.base.erase(from);
    const auto there = sides.remote.find(action.path);
    if (action.kind == ActionKind::pull_delete || there == sides.remote.end()) continue;
    LocalAttachment now = file.empty() ? LocalAttachment{} : file.mapped();
    if (action.kind != ActionKind::pull_move)
      now = {.size_bytes = there->second.size_bytes, .hash = there->second.hash};
    sides.local.insert_or_assign(action.path, now);
    sides.base.insert_or_assign(action.path, there->second);
    if (auto known = sides.files_known.extract(from); !known.empty()) {
      known.key() = action.path;
      sides.files_known.insert(std::move(known));
    }
  }
  return sides;
}

}  // namespace ws::sync
