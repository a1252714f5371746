/// Conflicts that are none any more: the two sides agree again, by an edit here or there.
#pragma once

#include <set>
#include <string_view>

#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Forgets those recorded conflicts that the plan does not have, after the service was told that its text stays as it
/// is. One that the service does not let go of (its document changed at this moment) waits for the next run.
Result<void> close_settled_conflicts(Session& session, const Survey& survey, const RunOptions& options);

/// Which conflicts stay as they are because the plan says nothing of their documents, which cannot be seen now.
class HiddenFiles {
 public:
  /// The survey outlives it.
  explicit HiddenFiles(const Survey& survey);
  bool hides(const Conflict& known) const;

 private:
  const Survey& survey_;
  std::set<std::string_view> skipped_;
};

}  // namespace ws::sync
