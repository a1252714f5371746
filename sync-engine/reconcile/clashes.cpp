#include "sync-engine/reconcile/clashes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
  Settler(const LocalTree& local, const RemoteTree& remote, Plan& plan) : local_(local), remote_(remote), plan_(plan) {}

  /// One pass; true where something was kept out, so that what it would have left stays, and may be in the way.
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

 private:
  void drop_actions_of(const DocumentId& document) {
    std::erase_if(plan_.actions, [&](const Action& action) { return action.document == document; });
  }

  void keep_out(const Claim& arrival, const Claim& obstacle_found) {
    const Claim kept_out = arrival;  // the claims go with the actions
    drop_actions_of(kept_out.document);
    const bool twin =
        kept_out.path != obstacle_found.path && kept_out.path.twin_key() == obstacle_found.path.twin_key();
    if (twin) {
      plan_.skipped.push_back({.path = kept_out.path.string(), .reason = Hindrance::twin});
      return;
    }
    Conflict conflict{.kind = ConflictKind::path, .path = obstacle_found.path, .document = kept_out.document};
    if (obstacle_found.hash) conflict.local = Entry{.path = obstacle_found.path, .hash = *obstacle_found.hash};
    if (const auto there = remote_.changed.find(kept_out.document); there != remote_.changed.end()) {
      conflict.remote = there->second;
    }
    plan_.conflicts.push_back(std::move(conflict));
    if (obstacle_found.document.empty()) {
      std::erase_if(plan_.actions, [&](const Action& action) {
        return action.kind == ActionKind::push_create && action.path == obstacle_found.path;
      });
    }
  }

  const LocalTree& local_;
  const RemoteTree& remote_;
  Plan& plan_;
};

}  // namespace

void settle_clashes(const LocalTree& local, const RemoteTree& remote, Plan& plan) {
  if (std::none_of(plan.actions.begin(), plan.actions.end(), arrives)) return;
  Settler settler(local, remote, plan);
  while (settler.pass()) {
  }
}

}  // namespace ws::sync
