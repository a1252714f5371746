#include "sync-engine/attachments/wishes.hpp"

#include <algorithm>
#include <utility>

#include <fcntl.h>

namespace ws::sync {
namespace {

const RelativePath& one_that_names(const NamedTarget& named) {
  return named.elsewhere.empty() ? named.here.front() : named.elsewhere.front();
}

/// A foreign file that somebody renamed by hand is still foreign.
bool is_foreign_elsewhere(const TargetMarks& marks, const Session& session, const Sha256& hash) {
  return std::ranges::any_of(marks, [&](const auto& each) {
    const auto& [target, mark] = each;
    if (!mark.is_foreign || mark.hash != hash) return false;
    return !session.root.open_beneath(target, O_PATH | O_NOFOLLOW);
  });
}

bool has_foreign_hashes(const TargetMarks& marks) {
  return std::ranges::any_of(marks, [](const auto& each) { return each.second.is_foreign && each.second.hash; });
}

class Holder {
 public:
  Holder(AttachmentPlan& plan, const AttachmentSides& sides, const Wishes& wishes, const ArrivalPlace& place)
      : plan_(plan), sides_(sides), wishes_(wishes), place_(place) {}

  void hold() {
    for (const Action& action : plan_.actions) {
      if (action.kind == ActionKind::pull_move) moved_there_.emplace(action.path, *action.previous_path);
    }
    std::set<RelativePath> held;
    for (const Action& action : plan_.actions) {
      const auto why = why_not(action);
      if (!why || !held.insert(action.path).second) continue;
      note_waiting(*why, arriving(action));
      plan_.skipped.push_back({.path = action.path.string(), .reason = *why});
      // An edit goes with the rename, and waits under the name that the file has here.
      if (action.kind == ActionKind::pull_move && action.seen != base(*action.previous_path)->hash)
        plan_.skipped.push_back({.path = action.previous_path->string(), .reason = *why});
    }
    // What belongs together waits together: a rename and the edit that comes with it.
    std::erase_if(plan_.actions, [&](const Action& action) { return held.contains(action.path); });
    std::erase_if(plan_.collisions, [&](const AttachmentCollision& each) { return settle(each); });
    // Renamed there to a name that is taken here: it stays where it is until it may come.
    std::erase_if(plan_.actions, [&](const Action& action) {
      return action.kind == ActionKind::pull_delete && waiting_.contains(base(action.path)->hash);
    });
  }

 private:
  /// The bytes that the service has at the action's place: a rename there leaves an edit of here as it is.
  std::optional<Sha256> arriving(const Action& action) const {
    const auto there = sides_.remote.find(action.path);
    return there == sides_.remote.end() ? action.result : there->second.hash;
  }

  void note_waiting(SkipReason why, const std::optional<Sha256>& bytes) {
    if (bytes && (why == SkipReason::held || why == SkipReason::declined)) waiting_.insert(*bytes);
  }

  const Attachment* base(const RelativePath& path) const {
    const auto found = sides_.base.find(path);
    return found == sides_.base.end() ? nullptr : &found->second;
  }

  SkipReason foreign_or_declined(const RelativePath& path, const Sha256& hash) const {
    return wishes_.decided(path, hash) == false ? SkipReason::declined : SkipReason::foreign;
  }
  SkipReason held_or_declined(const RelativePath& path, const Sha256& hash) const {
    return wishes_.decided(path, hash) == false ? SkipReason::declined : SkipReason::held;
  }

  /// Whether bytes may come to this place without a word of anybody. `from`: the file that they replace or rename.
  bool may_arrive(const RelativePath& path, const std::optional<RelativePath>& from) const {
    if (!place_.kinds.take(path.text()) || place_.is_name_taken(path, from)) return false;
    return !from || is_only_shown(path.text()) || !place_.is_executable(*from);
  }

  std::optional<SkipReason> why_not(const Action& action) const {
    const RelativePath& path = action.path;
    switch (action.kind) {
      case ActionKind::push_create:
        if (wishes_.has(path) || base(path) != nullptr || was_synced(sides_, *action.result)) return std::nullopt;
        return foreign_or_declined(path, *action.result);
      case ActionKind::push_update:
        if (base(path) != nullptr || moved_there_.contains(path) || wishes_.has(path)) return std::nullopt;
        return foreign_or_declined(path, *action.result);
      case ActionKind::adopt:
        if (wishes_.has(path) || wishes_.decided(path, *action.result) == true) return std::nullopt;
        return held_or_declined(path, *action.result);
      case ActionKind::pull_create:
      case ActionKind::pull_update:
      case ActionKind::pull_move: {
        std::optional<RelativePath> from = action.previous_path;
        const auto moved = moved_there_.find(path);
        if (!from && moved != moved_there_.end()) from = moved->second;
        if (!from && action.seen) from = path;
        const Sha256 bytes = *arriving(action);
        const bool had_it = base(path) != nullptr && base(path)->hash == bytes;
        if (had_it && !from && !place_.is_name_taken(path, from)) return std::nullopt;
        if (wishes_.decided(path, bytes) == true || may_arrive(path, from)) return std::nullopt;
        return held_or_declined(path, bytes);
      }
      default: return std::nullopt;
    }
  }

  /// Whether it is no conflict: the bytes there wait, or were accepted.
  bool settle(const AttachmentCollision& each) {
    if (!each.remote || each.there || place_.is_open_conflict(each.path)) return false;
    const std::optional<bool> decided = wishes_.decided(each.path, each.remote->hash);
    const bool is_ours = each.base || !each.local || wishes_.has(each.path);
    if (decided == true && !is_ours) {
      plan_.actions.push_back({.kind = ActionKind::pull_update,
                               .path = each.path,
                               .reason = "accepted here",
                               .seen = each.local->hash,
                               .result = each.remote->hash,
                               .attachment = true});
      std::ranges::stable_sort(plan_.actions, {}, &Action::path);
      return true;
    }
    const std::optional<RelativePath> from = each.local ? std::optional(each.path) : std::nullopt;
    if (is_ours && (decided == true || may_arrive(each.path, from))) return false;
    const SkipReason why = held_or_declined(each.path, each.remote->hash);
    note_waiting(why, each.remote->hash);
    plan_.skipped.push_back({.path = each.path.string(), .reason = why});
    return true;
  }

  AttachmentPlan& plan_;
  const AttachmentSides& sides_;
  const Wishes& wishes_;
  const ArrivalPlace& place_;
  std::set<Sha256> waiting_;  ///< the bytes of what may not come yet
  /// Renamed on the service, by the new path: the edit of one goes with it.
  std::map<RelativePath, RelativePath> moved_there_;
};

}  // namespace

bool Wishes::has(const RelativePath& path) const {
  if (is_for_all || taken.contains(path)) return true;
  const auto found = marks.find(path.string());
  return found != marks.end() && !found->second.is_foreign;
}

std::optional<bool> Wishes::decided(const RelativePath& path, const Sha256& hash) const {
  const auto found = decisions.find({path, hash});
  return found == decisions.end() ? std::nullopt : std::optional(found->second);
}

void mark_targets(TargetMarks& marks,
                  const ShownFiles& shown,
                  const Session& session,
                  bool all_foreign,
                  const std::function<std::optional<Sha256>(const RelativePath&)>& hash_of_file) {
  const bool any_foreign = has_foreign_hashes(marks);
  for (const auto& [target, named] : shown.targets) {
    const auto as_wiki = named.wiki_key.empty() ? marks.end() : marks.find(named.wiki_key);
    const bool is_wish_by_wiki = as_wiki != marks.end() && !as_wiki->second.is_foreign && as_wiki->second.hash;
    const auto known = marks.find(target);
    std::optional<Sha256> hash;
    if (known == marks.end() ? any_foreign || !named.wiki_key.empty() : is_wish_by_wiki && !known->second.is_foreign) {
      if (const auto path = RelativePath::parse(target)) hash = hash_of_file(*path);
    }
    if (known != marks.end()) {
      if (hash) as_wiki->second.hash = hash;
      continue;
    }
    TargetMark mark{.is_foreign = all_foreign || !named.elsewhere.empty()};
    if (as_wiki != marks.end() && (!as_wiki->second.hash || as_wiki->second.hash == hash)) {
      mark = as_wiki->second;
      mark.hash.reset();
    } else if (!mark.is_foreign && any_foreign) {
      mark.is_foreign = hash && is_foreign_elsewhere(marks, session, *hash);
    }
    // The link goes on naming the file where it is renamed: then its bytes tell which it was.
    if (!mark.is_foreign && hash && !named.wiki_key.empty())
      marks.try_emplace(named.wiki_key, TargetMark{.hash = hash});
    if (mark.is_foreign && mark.note.empty()) {
      const RelativePath& note = one_that_names(named);
      mark.note = note.string();
      const auto writer = session.writers.find(note);
      if (writer != session.writers.end()) mark.by = writer->second;
    }
    marks.emplace(target, std::move(mark));
  }
}

std::vector<std::string> spent_wishes(const TargetMarks& marks, const ShownFiles& shown, const AttachmentTree& base) {
  std::vector<std::string> spent;
  if (!shown.is_whole || !shown.cut.empty()) return spent;
  std::set<std::string_view> by_wiki;
  for (const auto& [target, named] : shown.targets) by_wiki.insert(named.wiki_key);
  for (const auto& [target, mark] : marks) {
    if (mark.is_foreign || shown.targets.contains(target) || by_wiki.contains(target)) continue;
    const auto path = RelativePath::parse(target);
    if (!path || !base.contains(*path)) spent.push_back(target);
  }
  return spent;
}

bool was_synced(const AttachmentSides& sides, const Sha256& hash) {
  return std::ranges::any_of(
      sides.base, [&](const auto& each) { return each.second.hash == hash && !sides.local.contains(each.first); });
}

void hold_unwished(AttachmentPlan& plan,
                   const AttachmentSides& sides,
                   const Wishes& wishes,
                   const ArrivalPlace& place) {
  Holder(plan, sides, wishes, place).hold();
}

}  // namespace ws::sync
