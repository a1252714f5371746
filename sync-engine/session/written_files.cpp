#include "sync-engine/session/written_files.hpp"

#include <optional>

#include "sync-engine/tree/hash.hpp"

namespace ws::sync {

Result<void> record_written(Session& session,
                            const DocumentId& document,
                            const RelativePath& path,
                            const Sha256& text) {
  const std::optional<FileId> id = find_file_id(session.root, path);
  if (document.empty() || !id) return {};
  return session.state.put_written(document, {.path = path, .id = *id, .text = text});
}

}  // namespace ws::sync
