#include "sync-engine/reconcile/clashes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sync-engine/reconcile/free_name.hpp"

namespace ws::sync {
namespace {

/// A file as it will stand on disk.
struct Claim {
  RelativePath path;
  DocumentId document = {};
  bool arrives = false;  ///< it is not there yet
  std::optional<Sha256> hash = {};
};

using Claims = std::multimap<std::string, Claim>;

bool arrives(const Action& action) {
  return action.kind == ActionKind::pull_create || action.kind == ActionKind::pull_move;
}

/// What stands where once the plan is done.
Claims final_claims(const LocalTree& local, const Plan& plan) {
  std::set<DocumentId> leaving;
  Claims claims;
  const auto add = [&](Claim claim) {
    std::string key = claim.path.twin_key();
    claims.emplace(std::move(key), std::move(claim));
  };
  for (const Action& action : plan.actions) {
    if (arrives(action)) {
      add({.path = action.path, .document = action.document, .arrives = true, .hash = action.result});
      leaving.insert(action.document);
    }
    if (action.kind == ActionKind::pull_delete) leaving.insert(action.document);
    if (action.kind == ActionKind::push_create && action.previous_path)
      add({.path = action.path, .hash = action.result});
  }
  for (const Settled& settled : plan.settled) {
    if (!settled.base) leaving.insert(settled.document);  // another document takes over its file
  }
  for (const auto& [document, entry] : local.tracked) {
    if (!leaving.contains(document)) add({.path = entry.path, .document = document, .hash = entry.hash});
  }
  for (const auto& [path, hash] : local.created) add({.path = path, .hash = hash});
  for (const Skipped& skipped : local.skipped) {
    if (auto path = RelativePath::parse(skipped.path)) add({.path = *path});
  }
  return claims;
}

/// The file that keeps `arrival` out, if there is one.
const Claim* obstacle(const Claims& claims, const std::string& key, const Claim& arrival) {
  const auto other = [&](const Claim& claim) {
    return &claim != &arrival && (claim.document.empty() || claim.document != arrival.document);
  };
  for (auto [place, end] = claims.equal_range(key); place != end; ++place) {
    // Of two that arrive at one place the first comes in.
    if (&place->second == &arrival) break;
    if (other(place->second)) return &place->second;
  }
  for (auto [place, end] = claims.equal_range(key); place != end; ++place) {
    if (!place->second.arrives && other(place->second)) return &place->second;
  }
  for (std::size_t slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1)) {
    const auto above = claims.find(key.substr(0, slash));
    if (above != claims.end() && other(above->second)) return &above->second;
  }
  const auto below = claims.lower_bound(key + "/");
  if (below != claims.end() && below->first.starts_with(key + "/") && !below->second.arrives) return &below->second;
  return nullptr;
}

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
    while (pass()) {
    }
    while (hold_back_refused()) {
    }
  }

 private:
  RelativePath beside(const RelativePath& path, std::string_view word) {
    if (!names_) names_.emplace(base_, local_, remote_);
    return names_->beside(path, word);
  }

  /// True where something was kept out, so that what it would have left stays, and may be in the way.
  bool pass() {
    const Claims claims = final_claims(local_, plan_);
    for (const auto& [key, claim] : claims) {
      if (!claim.arrives) continue;
      if (const Claim* obstacle_found = obstacle(claims, key, claim)) {
        keep_out(claim, *obstacle_found);
        return true;
      }
    }
    return false;
  }

  /// Where the documents of the service stand that neither leave nor move.
  std::map<std::string, DocumentId> places_there() const {
    std::map<DocumentId, RelativePath> paths;
    for (const auto& [document, entry] : base_.documents) paths.emplace(document, entry.path);
    for (const auto& [document, entry] : remote_.changed) paths.insert_or_assign(document, entry.path);
    for (const auto& [document, revision] : remote_.gone) paths.erase(document);
    for (const Action& action : plan_.actions) {
      if (action.kind == ActionKind::push_delete || action.kind == ActionKind::push_move) paths.erase(action.document);
    }
    std::map<std::string, DocumentId> places;
    for (const auto& [document, path] : paths) places.emplace(path.twin_key(), document);
    return places;
  }

  /// A document there whose move or delete waits may be in the way of what is created or moved here: that waits too.
  bool hold_back_refused() {
    const auto takes_a_place = [](const Action& action) {
      return action.kind == ActionKind::push_create || action.kind == ActionKind::push_move;
    };
    if (std::none_of(plan_.actions.begin(), plan_.actions.end(), takes_a_place)) return false;
    const std::map<std::string, DocumentId> places = places_there();
    for (const Action& action : plan_.actions) {
      if (!takes_a_place(action)) continue;
      const auto holder = places.find(action.path.twin_key());
      if (holder == places.end()) continue;
      const Action refused = action;
      std::erase_if(plan_.actions, [&](const Action& other) {
        return other.path == refused.path && other.document == refused.document && is_push(other.kind);
      });
      note_conflict(ConflictKind::path, refused.path, {.path = refused.path, .document = holder->second}, refused.seen);
      return true;
    }
    return false;
  }

  void drop_actions_of(const DocumentId& document) {
    std::erase_if(plan_.actions, [&](const Action& action) { return action.document == document; });
  }

  void keep_out(const Claim& arrival, const Claim& obstacle_found) {
    const Claim kept_out = arrival;  // the claims go with the actions
    const Claim in_the_way = obstacle_found;
    const std::string key = kept_out.path.twin_key();
    const bool same_place = key == in_the_way.path.twin_key();
    if (same_place && kept_out.path != in_the_way.path) {
      drop_actions_of(kept_out.document);
      plan_.skipped.push_back({.path = kept_out.path.string(), .reason = Hindrance::twin});
      return skip_new_twin(in_the_way);
    }
    const bool folder_here = in_the_way.path.twin_key().starts_with(key + "/");
    const bool folder_took_its_place = folder_here && base_.documents.contains(kept_out.document);
    if (folder_took_its_place) {
      note_conflict(ConflictKind::revision, kept_out.path, kept_out, {});
      return lay_beside(kept_out);
    }
    note_conflict(ConflictKind::path, in_the_way.path, kept_out, in_the_way.hash);
    hold_back(in_the_way);
    if (same_place && !in_the_way.arrives && in_the_way.hash) return lay_beside(kept_out);
    drop_actions_of(kept_out.document);
  }

  /// The service would refuse it: a document of that name is there.
  void skip_new_twin(const Claim& twin) {
    if (!twin.document.empty()) return;
    const auto erased = std::erase_if(plan_.actions, [&](const Action& action) {
      return action.kind == ActionKind::push_create && action.path == twin.path;
    });
    if (erased > 0) plan_.skipped.push_back({.path = twin.path.string(), .reason = Hindrance::twin});
  }

  void note_conflict(ConflictKind kind,
                     const RelativePath& path,
                     const Claim& kept_out,
                     const std::optional<Sha256>& hash_here) {
    Conflict conflict{.kind = kind, .path = path, .document = kept_out.document};
    if (hash_here) conflict.local = Entry{.path = path, .hash = *hash_here};
    if (const auto known = base_.documents.find(kept_out.document); known != base_.documents.end()) {
      conflict.base = known->second;
    }
    if (const auto there = remote_.changed.find(kept_out.document); there != remote_.changed.end()) {
      conflict.remote = there->second;
    } else {
      conflict.remote = conflict.base;
    }
    plan_.conflicts.push_back(std::move(conflict));
  }

  /// What the file in the way would have done on the service waits for the choice.
  void hold_back(const Claim& in_the_way) {
    std::erase_if(plan_.actions, [&](const Action& action) {
      const bool of_it = action.document == in_the_way.document && action.path == in_the_way.path;
      const bool creates = in_the_way.document.empty() && action.kind == ActionKind::push_create;
      const bool publishes = action.kind == ActionKind::push_move || action.kind == ActionKind::push_update;
      return of_it && (creates || (!in_the_way.document.empty() && publishes));
    });
    if (in_the_way.document.empty()) return;
    // Edited here, archived there and replaced by the arrival: one thing to choose, not two.
    const auto replaced = std::find_if(plan_.conflicts.begin(), plan_.conflicts.end(), [&](const Conflict& conflict) {
      return conflict.kind == ConflictKind::edit_delete && conflict.document == in_the_way.document;
    });
    if (replaced == plan_.conflicts.end()) return;
    plan_.conflicts.back().base = replaced->base;
    plan_.conflicts.erase(replaced);
  }

  /// The document's rows end at a name beside the place that it wanted; where it lies there already it stays.
  void lay_beside(const Claim& kept_out) {
    const auto lies = base_.placed.find(kept_out.document);
    const auto tracked = local_.tracked.find(kept_out.document);
    const bool stays =
        lies != base_.placed.end() && tracked != local_.tracked.end() && tracked->second.path == lies->second;
    const RelativePath place = stays ? lies->second : beside(kept_out.path, "remote");
    if (place == kept_out.path) return drop_actions_of(kept_out.document);
    std::erase_if(plan_.actions, [&](const Action& action) {
      return stays && action.document == kept_out.document && action.kind == ActionKind::pull_move;
    });
    for (Action& action : plan_.actions) {
      if (action.document != kept_out.document || action.path != kept_out.path) continue;
      action.path = place;
      action.service_path = kept_out.path;
    }
  }

  const BaseTree& base_;
  const LocalTree& local_;
  const RemoteTree& remote_;
  Plan& plan_;
  std::optional<FreeNames> names_ = {};  // made when first asked for
};

bool may_clash(const Action& action) {
  return arrives(action) || (action.kind == ActionKind::push_create && action.previous_path);
}

}  // namespace

void settle_clashes(const BaseTree& base, const LocalTree& local, const RemoteTree& remote, Plan& plan) {
  if (plan.conflicts.empty() && std::none_of(plan.actions.begin(), plan.actions.end(), may_clash)) return;
  Settler(base, local, remote, plan).settle();
}

}  // namespace ws::sync
