#include "sync-engine/survey/documents_here.hpp"

namespace ws::sync {

Result<DocumentsHere> find_documents_here(Session& session) {
  const RunOptions look{.merge = false, .offline = true, .dry_run = true, .whole = true};
  WS_LET(const Survey seen, survey(session, look, PullMode::inspect));
  DocumentsHere documents;
  for (const auto& [document, entry] : seen.local.tracked) documents.emplace(entry.path, document);
  documents.insert(seen.local.set_aside.begin(), seen.local.set_aside.end());
  for (const auto& [document, entry] : seen.base.documents) {
    if (!seen.local.tracked.contains(document)) documents.emplace(seen.base.disk_path(document), document);
  }
  return documents;
}

}  // namespace ws::sync
