/// Which changes of files a push has staged. Their bytes are Assets then, and nobody sees them before a commit writes
/// the list: what is no longer so by then is not published.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sync-engine/attachments/survey_attachments.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

class StagedFiles {
 public:
  static Result<StagedFiles> load(Session& session);
  bool is_empty() const { return changes_.empty(); }
  bool has(const Action& action) const;
  std::set<RelativePath> paths() const;
  void add(const Action& action);
  void drop(const Action& action);
  Result<void> store(AttachmentStore& store) const;

 private:
  std::set<std::string> changes_;
};

/// The plan of a commit: what is staged and still so. Looks at the disk where anything is staged.
Result<AttachmentSurvey> survey_staged(Session& session, const RunOptions& options);
/// Those of `rows` that are staged become so.
Result<void> mark_staged_files(Session& session, std::vector<Row>& rows);

}  // namespace ws::sync
