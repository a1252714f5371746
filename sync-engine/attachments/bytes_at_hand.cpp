#include "sync-engine/attachments/bytes_at_hand.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fcntl.h>

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
