#include "sync-engine/reconcile/clashes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sync-engine/reconcile/free_name.hpp"
#include "sync-engine/reconcile/overlapping_paths.hpp"

namespace ws::sync {
namespace {

/// A file at its path after the plan.
struct Claim {
  RelativePath path;
  DocumentId document = {};
  bool arrives = false;  ///< it is not there yet
  std::optional<Sha256> hash = {};
  bool may_be_above = true;  ///< what lies at this path keeps files from being written below it
};

using Claims = std::multimap<std::string, Claim>;

bool arrives(const Action& action) {
  return action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_move;
}

bool takes_a_place_there(const Action& action) {
  return action.kind == ActionKind::push_create || action.kind == ActionKind::push_move;
}

/// The paths that are taken after the plan, as far as they can clash with incoming files.
Claims final_claims(const BaseTree& base, const LocalTree& local, const Plan& plan) {
  std::set<DocumentId> leaving;
  OverlappingPaths nearby;
  Claims claims;
  for (const Action& action : plan.actions) {
    if (!arrives(action)) continue;
    std::string key = action.path.twin_key();
    nearby.add(key);
    claims.emplace(std::move(key),
                   Claim{.path = action.path, .document = action.document, .arrives = true, .hash = action.result});
    leaving.insert(action.document);
  }
  if (claims.empty()) return claims;
  const auto add = [&](const RelativePath& path,
                       const DocumentId& document,
                       const std::optional<Sha256>& hash,
                       bool may_be_above = true) {
    std::string key = path.twin_key();
    if (!nearby.overlaps(key)) return;
    claims.emplace(std::move(key),
                   Claim{.path = path, .document = document, .hash = hash, .may_be_above = may_be_above});
  };
  for (const Action& action : plan.actions) {
    if (action.kind == ActionKind::pull_delete) leaving.insert(action.document);
    if (action.kind == ActionKind::push_create && action.previous_path) add(action.path, {}, action.result);
  }
  for (const Settled& settled : plan.settled) {
    if (!settled.base) leaving.insert(settled.document);  // another document takes over its file
  }
  for (const auto& [document, entry] : local.tracked) {
    if (!leaving.contains(document)) add(entry.path, document, entry.hash);
  }
  for (const auto& [document, skip_reason] : local.unsyncable) {
    // One that is left out on purpose holds no name; a file that lies there all the same is among the obstacles.
    if (skip_reason == SkipReason::left_out || local.tracked.contains(document)) continue;
    if (base.documents.contains(document)) add(base.disk_path(document), {}, {});
  }
  for (const auto& [path, hash] : local.created) add(path, {}, hash);
  for (const RelativePath& path : local.obstacles) add(path, {}, {});
  for (const Skipped& skipped : local.skipped) {
    // Below a folder that cannot be read the write itself fails, and the next run tries again: nothing has to be
    // decided.
    const bool may_be_above = skipped.reason != SkipReason::unreadable;
    if (auto path = RelativePath::parse(skipped.path)) add(*path, {}, {}, may_be_above);
  }
  return claims;
}

/// The file that occupies the path of `arrival`, a folder above it or a path below it; null: none.
const Claim* obstacle(const Claims& claims, const std::string& key, const Claim& arrival) {
  const auto other = [&](const Claim& claim) {
    return &claim != &arrival && (claim.document.empty() || claim.document != arrival.document);
  };
  for (auto [place, end] = claims.equal_range(key); place != end; ++place) {
    // Of two incoming files for one path the first gets it.
    if (&place->second == &arrival) break;
    if (other(place->second)) return &place->second;
  }
  for (auto [place, end] = claims.equal_range(key); place != end; ++place) {
    if (!place->second.arrives && other(place->second)) return &place->second;
  }
  for (std::size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1)) {
    const auto above = claims.find(key.substr(0, slash));
    if (above != claims.end() && above->second.may_be_above && other(above->second)) return &above->second;
  }
  const auto below = claims.lower_bound(key + "/");
  if (below != claims.end() && below->first.starts_with(key + "/") && !below->second.arrives) return &below->second;
  return nullptr;
}

/// The rows of a plan by their document; new files, which have none, by their path. Removed rows are only marked until
/// `compact`: erasing each at once would be quadratic.
class RowIndex {
 public:
  explicit RowIndex(std::vector<Action>& actions) : actions_(actions), out_(actions.size(), false) {
    for (std::size_t i = 0; i < actions.size(); ++i) places_[key_of(actions[i].document, actions[i].path)].push_back(i);
  }

  /// `path`: of a new file.
  template <class Visit>
  void each(const DocumentId& document, const RelativePath& path, Visit visit) {
    const auto found = places_.find(key_of(document, path));
    if (found == places_.end()) return;
    for (const std::size_t i : found->second) {
      if (!out_[i]) visit(actions_[i]);
    }
  }

  /// How many that was.
  template <class IsOut>
  std::size_t take_out(const DocumentId& document, const RelativePath& path, IsOut is_out) {
    std::size_t count = 0;
    each(document, path, [&](const Action& action) {
      if (!is_out(action)) return;
      out_[static_cast<std::size_t>(&action - actions_.data())] = true;
      ++count;
    });
    any_out_ = any_out_ || count > 0;
    return count;
  }

  void compact() {
    if (!any_out_) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < actions_.size(); ++i) {
      if (out_[i]) continue;
      if (kept != i) actions_[kept] = std::move(actions_[i]);
      ++kept;
    }
    actions_.erase(actions_.begin() + static_cast<std::ptrdiff_t>(kept), actions_.end());
  }

 private:
  static std::string key_of(const DocumentId& document, const RelativePath& path) {
    return document.empty() ? "/" + path.string() : document.text();
  }

  std::vector<Action>& actions_;
  std::vector<bool> out_;
  bool any_out_ = false;
  std::unordered_map<std::string, std::vector<std::size_t>> places_;
};

class Settler {
 public:
  Settler(const BaseTree& base, const LocalTree& local, const RemoteTree& remote, Plan& plan)
      : base_(base), local_(local), remote_(remote), plan_(plan) {}

  void settle() {
    for (Action& action : plan_.actions) {
      if (action.kind == ActionKind::push_create && action.previous_path) {
        action.path = beside(*action.previous_path, "local");
      }
    }
    while (pass()) close_gaps();
    hold_back_refused();
    close_gaps();
    if (joined_conflicts_.empty()) return;
    std::vector<Conflict> kept;
    for (std::size_t i = 0; i < plan_.conflicts.size(); ++i) {
      if (!joined_conflicts_.contains(i)) kept.push_back(std::move(plan_.conflicts[i]));
    }
    plan_.conflicts = std::move(kept);
  }

 private:
  RowIndex& rows() {
    if (!rows_) rows_.emplace(plan_.actions);
    return *rows_;
  }
  void close_gaps() {
    if (rows_) rows_->compact();
    rows_.reset();
  }

  /// Indexes of the plan's conflicts about a document.
  const std::vector<std::size_t>& conflicts_of(const DocumentId& document) {
    for (; indexed_conflicts_ < plan_.conflicts.size(); ++indexed_conflicts_) {
      conflicts_by_document_[plan_.conflicts[indexed_conflicts_].document].push_back(indexed_conflicts_);
    }
    return conflicts_by_document_[document];
  }

  RelativePath beside(const RelativePath& path, std::string_view word) {
    if (!names_) names_.emplace(base_, local_, remote_);
    return names_->beside(path, word);
  }

  /// True where a file was kept out: its old path stays taken, so the next pass must look again.
  bool pass() {
    const Claims claims = final_claims(base_, local_, plan_);
    std::set<DocumentId> settled;
    for (const auto& [key, claim] : claims) {
      if (!claim.arrives || settled.contains(claim.document)) continue;
      const Claim* const in_the_way = obstacle(claims, key, claim);
      // Settled in this pass: whether it still blocks the path is known in the next one.
      if (in_the_way == nullptr || settled.contains(in_the_way->document)) continue;
      settled.insert(claim.document);
      if (!in_the_way->document.empty()) settled.insert(in_the_way->document);
      keep_out(claim, *in_the_way);
    }
    return !settled.empty();
  }

  using Places = std::map<std::string, DocumentId>;

  /// The service's paths after the plan, as far as they can clash with what is pushed.
  Places places_there(const OverlappingPaths& nearby) const {
    std::set<DocumentId> leaving;
    for (const Action& action : plan_.actions) {
      if (action.kind == ActionKind::push_delete || action.kind == ActionKind::push_move)
        leaving.insert(action.document);
    }
    Places places;
    const auto add = [&](const DocumentId& document, const RelativePath& path) {
      if (leaving.contains(document) || remote_.gone.contains(document)) return;
      std::string key = path.twin_key();
      if (nearby.overlaps(key)) places.emplace(std::move(key), document);
    };
    for (const auto& [document, entry] : base_.documents) {
      if (!remote_.changed.contains(document) && !remote_.moved_out.contains(document)) add(document, entry.path);
    }
    for (const auto& [document, entry] : remote_.changed) add(document, entry.path);
    for (const Skipped& refused : remote_.refused) {
      if (const auto path = RelativePath::parse(refused.path)) add({}, *path);
    }
    return places;
  }

  /// The document at a path on the service, above it or below it; null: none.
  static const DocumentId* holder_of(const Places& places, const std::string& key) {
    if (const auto at = places.find(key); at != places.end()) return &at->second;
    for (std::size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1)) {
      if (const auto above = places.find(key.substr(0, slash)); above != places.end()) return &above->second;
    }
    const auto below = places.lower_bound(key + "/");
    return below != places.end() && below->first.starts_with(key + "/") ? &below->second : nullptr;
  }

  /// A local folder replaced the file of the holder, which was edited on the service: that conflict is reported
  /// already, and the files in the folder are pushed all the same.
  bool became_a_folder(const DocumentId& holder, const Action& wish) const {
    const auto base = base_.documents.find(holder);
    return base != base_.documents.end() && remote_.changed.contains(holder) &&
           wish.path.text().starts_with(base->second.path.string() + "/");
  }

  /// Whether its own name or text is in conflict: that is decided first, as a document has one open conflict at a time.
  bool is_undecided(const DocumentId& holder) {
    const std::vector<std::size_t>& about = conflicts_of(holder);
    return std::any_of(about.begin(), about.end(), [&](std::size_t i) {
      const Conflict& conflict = plan_.conflicts[i];
      return conflict.which == ConflictCase::renamed_on_both || conflict.is_about(ConflictSubject::text);
    });
  }

  using Wishes = std::multimap<std::string, Action>;

  /// Holds back creates and moves whose path on the service is taken. A held move keeps its old path taken, so whatever
  /// wants that path is checked again.
  void hold_back_refused() {
    if (base_.documents.empty() && remote_.changed.empty() && remote_.refused.empty()) return;
    OverlappingPaths nearby;
    Wishes wishes;
    for (const Action& action : plan_.actions) {
      if (!takes_a_place_there(action)) continue;
      std::string key = action.path.twin_key();
      nearby.add(key);
      wishes.emplace(std::move(key), action);
    }
    if (wishes.empty()) return;
    Places places = places_there(nearby);
    std::set<const Action*> held;
    std::vector<Wishes::const_iterator> asked;
    for (auto wish = wishes.cbegin(); wish != wishes.cend(); ++wish) asked.push_back(wish);
    while (!asked.empty()) {
      std::vector<Wishes::const_iterator> next;
      for (const Wishes::const_iterator& each : asked) {
        const auto& [key, wish] = *each;
        const DocumentId* const holder = held.contains(&wish) ? nullptr : holder_of(places, key);
        if (holder == nullptr || became_a_folder(*holder, wish)) continue;
        held.insert(&wish);
        hold_back_rows(wish.document, wish.path);
        if (!is_undecided(*holder)) {
          record_conflict(wish.path, *holder, wish.seen);
        }
        if (wish.kind != ActionKind::push_move) continue;
        const auto changed = remote_.changed.find(wish.document);
        const Entry& stays = changed != remote_.changed.end() ? changed->second : base_.documents.at(wish.document);
        std::string place = stays.path.twin_key();
        add_wishes_at(wishes, place, next);
        if (nearby.overlaps(place)) places.emplace(std::move(place), wish.document);
      }
      asked = std::move(next);
    }
  }

  /// Adds the wishes for a path, for one above it or one below it.
  static void add_wishes_at(const Wishes& wishes, const std::string& key, std::vector<Wishes::const_iterator>& found) {
    visit_overlapping(wishes, key, [&](Wishes::const_iterator wish) { found.push_back(wish); });
  }

  /// A file whose path is refused keeps its text changes back as well, in both directions: moving the base would record
  /// the path as agreed.
  void hold_back_rows(const DocumentId& document, const RelativePath& path) {
    rows().take_out(document, path, [&](const Action& action) {
      if (action.path != path) return false;
      if (document.empty()) return action.kind == ActionKind::push_create;
      return is_push(action.kind) || action.kind == ActionKind::merge || action.kind == ActionKind::pull_update;
    });
  }

  bool is_renamed_here(const Claim& claim) {
    bool renamed = false;
    rows().each(claim.document, claim.path, [&](const Action& action) {
      renamed = renamed || (action.kind == ActionKind::push_move && action.path == claim.path);
    });
    return renamed;
  }

  void drop_actions_of(const DocumentId& document, const RelativePath& place) {
    rows().take_out(document, place, [](const Action&) { return true; });
  }

  void keep_out(const Claim& arrival, const Claim& obstacle_found) {
    const Claim kept_out = arrival;  // the claims go with the actions
    const Claim in_the_way = obstacle_found;
    const std::string key = kept_out.path.twin_key();
    const bool same_place = key == in_the_way.path.twin_key();
    // Of twins the known one is synced: where a new file stands in its way, somebody has to decide.
    const bool is_known_one = in_the_way.document.empty() && base_.documents.contains(kept_out.document);
    if (same_place && kept_out.path != in_the_way.path && !is_known_one) {
      drop_actions_of(kept_out.document, kept_out.path);
      plan_.skipped.push_back({.path = kept_out.path.string(), .reason = SkipReason::twin});
      return skip_new_twin(in_the_way);
    }
    if (stands_there(in_the_way) && key.starts_with(in_the_way.path.twin_key() + "/")) {
      // The service has a document and a folder of one name. A disk cannot, and there is nothing to decide here.
      drop_actions_of(kept_out.document, kept_out.path);
      plan_.skipped.push_back({.path = kept_out.path.string(), .reason = SkipReason::twin});
      return;
    }
    const bool folder_here = in_the_way.path.twin_key().starts_with(key + "/");
    const bool folder_took_its_place = folder_here && base_.documents.contains(kept_out.document);
    if (folder_took_its_place) {
      record_conflict(kept_out.path, kept_out.document, {});
      plan_.conflicts.back().which = ConflictCase::became_folder;
      return lay_beside(kept_out);
    }
    const bool is_held = same_place && !in_the_way.arrives;
    // Its file moves away as soon as its text is decided: the path itself is no conflict.
    if (is_held && leaves_once_decided(in_the_way)) return lay_beside(kept_out);
    record_conflict(in_the_way.path, kept_out.document, in_the_way.hash);
    hold_back(in_the_way);
    if (is_held) return lay_beside(kept_out);
    drop_actions_of(kept_out.document, kept_out.path);
  }

  /// Whether its document was edited on both sides and moved on the service, so that only the conflict keeps it here.
  bool leaves_once_decided(const Claim& claim) {
    const std::vector<std::size_t>& about = conflicts_of(claim.document);
    return std::any_of(about.begin(), about.end(), [&](std::size_t i) {
      const Conflict& conflict = plan_.conflicts[i];
      return conflict.kind() == ConflictKind::revision && conflict.remote &&
             conflict.remote->path.twin_key() != claim.path.twin_key();
    });
  }

  /// Whether the service has that file's document at the very same place.
  bool stands_there(const Claim& claim) const {
    if (claim.document.empty() || remote_.gone.contains(claim.document)) return false;
    const auto changed = remote_.changed.find(claim.document);
    const auto base = base_.documents.find(claim.document);
    if (changed == remote_.changed.end() && base == base_.documents.end()) return false;
    const Entry& there = changed != remote_.changed.end() ? changed->second : base->second;
    return there.path.twin_key() == claim.path.twin_key();
  }

  /// A new file with the name of the twin would be refused by the service.
  void skip_new_twin(const Claim& twin) {
    if (!twin.document.empty()) return;
    const auto erased =
        rows().take_out({}, twin.path, [](const Action& action) { return action.kind == ActionKind::push_create; });
    if (erased > 0) plan_.skipped.push_back({.path = twin.path.string(), .reason = SkipReason::twin});
  }

  /// What is here at `path`, with that text if it is synced, is not the document's own file.
  void record_conflict(const RelativePath& path, const DocumentId& document, const std::optional<Sha256>& hash_here) {
    Conflict conflict{.path = path, .document = document};
    if (hash_here) conflict.local = Entry{.path = path, .hash = *hash_here};
    if (const auto known = base_.documents.find(document); known != base_.documents.end()) {
      conflict.base = known->second;
    }
    if (const auto there = remote_.changed.find(document); there != remote_.changed.end()) {
      conflict.remote = there->second;
    } else {
      conflict.remote = conflict.base;
    }
    conflict.which = find_place_case(conflict);
    plan_.conflicts.push_back(std::move(conflict));
  }

  /// The pushes of the file that occupies the path wait for the decision.
  void hold_back(const Claim& in_the_way) {
    if (in_the_way.document.empty() || is_renamed_here(in_the_way))
      hold_back_rows(in_the_way.document, in_the_way.path);
    if (in_the_way.document.empty()) return;
    // Edited here, archived there and replaced by the incoming document: one conflict, not two.
    const std::vector<std::size_t>& about = conflicts_of(in_the_way.document);
    const auto replaced = std::find_if(about.begin(), about.end(), [&](std::size_t i) {
      return plan_.conflicts[i].which == ConflictCase::edited_and_archived && !joined_conflicts_.contains(i);
    });
    if (replaced == about.end()) return;
    plan_.conflicts.back().base = plan_.conflicts[*replaced].base;
    joined_conflicts_.insert(*replaced);
  }

  /// Redirects the document's rows to a free name beside its path, or to the name that it was displaced to before.
  void lay_beside(const Claim& kept_out) {
    const auto lies = base_.displaced_to.find(kept_out.document);
    const auto tracked = local_.tracked.find(kept_out.document);
    const bool stays =
        lies != base_.displaced_to.end() && tracked != local_.tracked.end() && tracked->second.path == lies->second;
    const RelativePath place = stays ? lies->second : beside(kept_out.path, "remote");
    if (place == kept_out.path) return drop_actions_of(kept_out.document, kept_out.path);
    if (stays) {
      rows().take_out(
          kept_out.document, kept_out.path, [](const Action& action) { return action.kind == ActionKind::pull_move; });
    }
    rows().each(kept_out.document, kept_out.path, [&](Action& action) {
      if (action.path != kept_out.path) return;
      action.path = place;
      action.service_path = kept_out.path;
    });
  }

  const BaseTree& base_;
  const LocalTree& local_;
  const RemoteTree& remote_;
  Plan& plan_;
  std::optional<FreeNames> names_ = {};  // made when first asked for
  std::optional<RowIndex> rows_ = {};    // of this pass
  std::unordered_map<DocumentId, std::vector<std::size_t>> conflicts_by_document_ = {};
  std::size_t indexed_conflicts_ = 0;
  std::set<std::size_t> joined_conflicts_ = {};  // into another that tells the same
};

bool may_clash(const Action& action) { return arrives(action) || takes_a_place_there(action); }

}  // namespace

void settle_clashes(const BaseTree& base, const LocalTree& local, const RemoteTree& remote, Plan& plan) {
  if (plan.conflicts.empty() && std::none_of(plan.actions.begin(), plan.actions.end(), may_clash)) return;
  Settler(base, local, remote, plan).settle();
}

}  // namespace ws::sync
