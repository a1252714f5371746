#include "sync-engine/session/kept_bytes.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fcntl.h>

namespace ws::sync {

Result<bool> are_unsent(AttachmentStore& store, const RelativePath& path, const Sha256& hash) {
  WS_LET(const std::vector<AttachmentVersion> versions, store.versions(path));
  const auto last = std::ranges::find_if(
      versions, [&](const AttachmentVersion& each) { return each.file && each.file->hash == hash; });
  return last != versions.end() && last->how == replaced_unsent;
}

namespace {

std::string spelling_key(const RelativePath& path) { return "spelling\n" + path.string(); }

}  // namespace

Result<void> keep_spelling(AttachmentStore& store, const RelativePath& path, const RelativePath& disk) {
  return disk == path ? Result<void>() : store.set_note(spelling_key(path), disk.string());
}

Result<RelativePath> spelled_here(const Session& session, AttachmentStore& store, const RelativePath& path) {
  if (session.root.open_beneath(path.text(), O_PATH | O_NOFOLLOW)) return path;
  WS_LET(const std::string spelled, store.note(spelling_key(path)));
  return RelativePath::parse(spelled).value_or(path);
}

}  // namespace ws::sync
