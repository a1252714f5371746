#include "sync-engine/attachments/blob_folder.hpp"

#include <string>
#include <vector>

namespace ws::sync {

Result<void> recover_blob_folder(AttachmentStore& store, SafeWriter& writer) {
  WS_LET(const std::vector<std::string> names, writer.leftovers());
  for (const std::string& name : names) {
    if (Sha256::from_hex(name)) continue;
    WS_LET(const Sha256 hash, writer.hash_leftover(name));
    WS_LET(const auto there, store.find_asset(hash));
    if (there) {
      WS_TRY(writer.remove_leftover(name));
    } else {
      WS_TRY(writer.rename_leftover(name, hash.hex()));
    }
  }
  return {};
}

Result<void> ensure_backup(SafeWriter& writer,
                           Assets* assets,
                           const RelativePath& disk,
                           const Sha256& hash,
                           const std::optional<Attachment>& known) {
  if (known && known->hash == hash && assets != nullptr) {
    const auto there = assets->holds(*known);
    if (there && *there) return {};
    if (!there && there.error().kind == Failure::Kind::auth) return fail(Failure(there.error()));
  }
  return writer.keep_copy(disk, hash);
}

}  // namespace ws::sync
