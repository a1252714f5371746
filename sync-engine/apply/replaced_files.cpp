#include "sync-engine/apply/replaced_files.hpp"

namespace ws::sync {
namespace {

bool takes_over(const Action& action) {
  return (action.kind == ActionKind::pull_create || action.kind == ActionKind::adopt) && action.seen;
}

}  // namespace

ReplacedFiles::ReplacedFiles(const Survey& survey, const std::vector<Row>& rows) {
  std::map<RelativePath, DocumentId> leaving;
  for (const Settled& settled : survey.plan.settled) {
    if (!settled.base) leaving.emplace(survey.base.disk_path(settled.document), settled.document);
  }
  if (leaving.empty()) return;
  for (const Row& row : rows) {
    const auto old = takes_over(row.action) ? leaving.find(row.action.path) : leaving.end();
    if (old == leaving.end()) continue;
    by_path_.insert(*old);
    documents_.insert(old->second);
  }
}

const DocumentId* ReplacedFiles::by(const Action& action) const {
  const auto old = takes_over(action) ? by_path_.find(action.path) : by_path_.end();
  return old == by_path_.end() ? nullptr : &old->second;
}

}  // namespace ws::sync
