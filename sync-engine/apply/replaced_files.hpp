/// Documents that are gone on the service and whose file becomes another document's.
///
/// The base forgets one with the very stroke that notes the other, and not before: a run that is cut off in between
/// would take the file for a new one, and what comes for a second one at its place.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "sync-engine/model/report.hpp"
#include "sync-engine/survey/survey.hpp"

namespace ws::sync {

class ReplacedFiles {
 public:
  ReplacedFiles(const Survey& survey, const std::vector<Row>& rows);

  /// Whose file the action takes over; null: nobody's.
  const DocumentId* by(const Action& action) const;
  bool contains(const Settled& settled) const { return !settled.base && documents_.contains(settled.document); }

 private:
  std::map<RelativePath, DocumentId> by_path_;
  std::set<DocumentId> documents_;
};

}  // namespace ws::sync
