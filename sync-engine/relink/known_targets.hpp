/// Which file a link leads to that a rename broke: one answer for `links check`, which names it, and `links fix`, which
/// writes it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sync-engine/links/rewrite_links.hpp"
#include "sync-engine/model/plan.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/survey/link_index.hpp"

namespace ws::sync {

/// What was renamed here, as a plan is about to tell the service.
links::Renames renames_of(const Plan& plan);

/// The tree as it was before the renames, and what these change in its links.
class EarlierTree {
 public:
  EarlierTree(const links::TreeFiles& now, links::Renames renamed);
  EarlierTree(const EarlierTree&) = delete;
  EarlierTree& operator=(const EarlierTree&) = delete;

  /// Where a note lay before.
  const std::string& place_of(const std::string& note) const;
  std::vector<links::NewTarget> new_targets(const std::string& note,
                                            const std::vector<links::Reference>& references) const;

 private:
  links::Renames renamed_;
  links::TreeFiles before_;
  links::LinkRewriter rewriter_;  // refers to both
  std::map<std::string, std::string> back_;
};

class KnownTargets {
 public:
  /// By the renames that the operations of this tree tell of and those that no run has seen yet; or by `given`, files
  /// or folders. `session` null: tied to nothing, no rename is known but those. `index` outlives it. Fails with `disk`.
  static Result<KnownTargets> find(Session* session, const LinkIndex& index, const links::Renames& given = {});

  /// The new targets of those links that a rename broke.
  std::vector<links::NewTarget> of(const std::string& note, const std::vector<links::Reference>& references) const;

 private:
  explicit KnownTargets(links::LinkMender mender) : mender_(std::move(mender)) {}

  links::LinkMender mender_;
  std::unique_ptr<EarlierTree> unsent_;  ///< null: every rename was seen by a run
};

}  // namespace ws::sync
