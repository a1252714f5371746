/// Which conflicts of a tree stay open after a plan: those that a commit cannot record on the service are kept in this
/// tree alone, and those that an edit on either side has settled are closed.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "sync-engine/model/report.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

/// Resolves on the service, then drops here, those recorded conflicts that the plan no longer has. One that the service
/// refuses to resolve (its document changed in this moment) waits for the next run. What a pull of `waiting` is to
/// settle stays open.
Result<void> close_settled_conflicts(Session& session,
                                     const Survey& survey,
                                     const RunOptions& options,
                                     const std::set<DocumentId>& waiting = {});

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

/// Stores those of the plan that are kept here alone, or that this key could not push, with their texts under
/// `.ws/conflicts/ID/`; their rows are done. One that is stored already is not written again. Fails with `disk`.
Result<void> keep_local_conflicts(Session& session, const Survey& survey, std::vector<Row>& rows);

}  // namespace ws::sync
