#include "sync-engine/attachments/bytes_at_hand.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sync-engine/attachments/blob_folder.hpp"
#include "sync-engine/attachments/transfers.hpp"

namespace ws::sync {

Failure bytes_need_service() {
  return {.kind = Failure::Kind::usage,
          .what = "this cannot be done without the service",
          .hint = "run `ws login`",
          .code = "needs_service"};
}

Result<void> bring_bytes(Session& session, AttachmentStore& store, const SafeWriter& writer, const Attachment& file) {
  if (writer.has(file.hash.hex(), file.hash)) return {};
  Assets* const assets = session.assets();
  if (assets == nullptr) return fail(bytes_need_service());
  Attachment wanted = file;
  if (wanted.asset.empty()) {
    WS_LET(const auto known, store.find_asset(file.hash));
    if (!known) return fail(Failure::Kind::not_found, "these bytes are neither here nor on the service");
    wanted = *known;
  }
  Transfers transfers(session, store, *assets);
  transfers.fetch(wanted);
  const TransferOutcome outcome = transfers.run();
  const auto why = outcome.not_downloaded.find(file.hash);
  return why == outcome.not_downloaded.end() ? Result<void>() : fail(Failure(why->second));
}

Result<void> back_up(
    Session& session, AttachmentStore& store, SafeWriter& writer, const RelativePath& path, const Sha256& now) {
  WS_LET(const auto known, store.find_asset(now));
  return ensure_backup(writer, session.assets(), path, now, known);
}

Result<bool> are_unsent(AttachmentStore& store, const RelativePath& path, const Sha256& hash) {
  WS_LET(const std::vector<AttachmentVersion> versions, store.versions(path));
  const auto last = std::ranges::find_if(
      versions, [&](const AttachmentVersion& each) { return each.file && each.file->hash == hash; });
  return last != versions.end() && last->how == replaced_unsent;
}

}  // namespace ws::sync
