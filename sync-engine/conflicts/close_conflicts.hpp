/// Closes conflicts that an edit on either side has settled.
#pragma once

#include <set>
#include <string_view>

#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Resolves on the service, then drops here, those recorded conflicts that the plan no longer has. One that the service
/// refuses to resolve (its document changed in this moment) waits for the next run.
Result<void> close_settled_conflicts(Session& session, const Survey& survey, const RunOptions& options);

/// Conflicts whose documents cannot be read now: the plan says nothing about them, so they stay open.
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
