#include "sync-engine/survey/documents_here.hpp"

#include <cerrno>
#include <vector>

#include <fcntl.h>

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

std::optional<std::string> find_taken(const RootFolder& root, const RelativePath& place) {
  if (root.open_beneath(place.text(), O_PATH | O_NOFOLLOW) || errno != ENOENT) return place.string();
  const Descriptor folder = root.open_beneath(place.folder(), O_RDONLY | O_DIRECTORY);
  std::vector<std::string> names;
  if (!folder || !list_folder(folder.get(), names)) return std::nullopt;
  for (const std::string& name : names) {
    const auto beside = RelativePath::parse(place.folder().empty() ? name : std::string(place.folder()) + "/" + name);
    if (beside && beside->twin_key() == place.twin_key()) return beside->string();
  }
  return std::nullopt;
}

}  // namespace ws::sync
