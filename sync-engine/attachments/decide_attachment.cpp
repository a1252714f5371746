#include <utility>

#include <fmt/format.h>

#include "sync-engine/attachments/blob_folder.hpp"
#include "sync-engine/attachments/restore_attachment.hpp"
#include "sync-engine/attachments/sync_attachments.hpp"
#include "sync-engine/attachments/transfers.hpp"

namespace ws::sync {
namespace {

class AttachmentDecision {
 public:
  AttachmentDecision(Session& session, const Clock& clock, AttachmentStore& store, SafeWriter& writer)
      : session_(session), clock_(clock), store_(store), writer_(writer) {
    if (session.remote != nullptr) assets_ = session.remote->assets();
  }

  Result<void> decide(const RelativePath& path, const OpenAttachment& open, Keep keep) {
    switch (keep) {
      case Keep::merged:
        return fail(Failure::Kind::usage,
                    fmt::format("{} is not a text that can be merged", path.text()),
                    "give --keep local, remote or both");
      case Keep::local: WS_TRY(keep_ours(path, open)); break;
      case Keep::remote: WS_TRY(take_theirs(path, open)); break;
      case Keep::both: WS_TRY(keep_both(path, open)); break;
    }
    WS_TRY(record(path, open, keep));
    return store_.drop_conflict(path);
  }

 private:
  /// What an undo takes back: before the conflict ends, for a call that is cut off in between is made again.
  Result<void> record(const RelativePath& path, const OpenAttachment& open, Keep keep) {
    const auto hash_of = [](const std::optional<Attachment>& file) {
      return file ? std::optional(file->hash) : std::nullopt;
    };
    const std::optional<Sha256> local = hash_of(open.local);
    return record_bytes(
        session_, ChangeOrigin::decided, path, local, keep == Keep::remote ? hash_of(open.remote) : local);
  }

  Result<void> note(const RelativePath& path, const std::optional<Attachment>& file, std::string_view how) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock_.now().time_since_epoch()).count();
    return store_.add_version({.seconds = seconds, .path = path, .file = file, .how = std::string(how)});
  }

  /// What the service has is what both sides agree on from now on: ours is an edit of it, which the next run sends.
  Result<void> agree_on_theirs(const RelativePath& path, const OpenAttachment& open) {
    return open.remote ? store_.put_base(path, *open.remote) : store_.forget_base(path);
  }

  Result<void> drop_beside(const OpenAttachment& open) {
    // One that somebody changed stays.
    if (open.beside && open.remote) static_cast<void>(writer_.remove(*open.beside, open.remote->hash));
    return writer_.flush_folders();
  }

  Result<void> keep_ours(const RelativePath& path, const OpenAttachment& open) {
    // Nothing else would tell which Asset has the bytes that lost.
    if (open.remote) WS_TRY(note(path, open.remote, "not taken"));
    WS_TRY(agree_on_theirs(path, open));
    return drop_beside(open);
  }

  Result<void> keep_both(const RelativePath& path, const OpenAttachment& open) {
    WS_TRY(agree_on_theirs(path, open));
    return open.beside ? store_.put_wanted(*open.beside) : Result<void>();
  }

  Result<void> take_theirs(const RelativePath& path, const OpenAttachment& open) {
    if (!open.local) {
      return fail(Failure::Kind::conflict,
                  fmt::format("{} was removed here, and its name may be taken", path.text()),
                  "give --keep local, or both to have theirs beside it");
    }
    WS_LET(const auto now, writer_.hash(path));
    const bool is_placed = now == (open.remote ? std::optional(open.remote->hash) : std::nullopt);
    if (!is_placed) WS_TRY(place_theirs(path, open));
    WS_TRY(drop_beside(open));
    return agree_on_theirs(path, open);
  }

  /// Not done again where an earlier call was cut off after it.
  Result<void> place_theirs(const RelativePath& path, const OpenAttachment& open) {
    WS_TRY(ensure_backup(writer_, assets_, path, open.local->hash, open.base));
    WS_TRY(note(path, open.local, "replaced"));
    if (!open.remote) return writer_.remove(path, open.local->hash);
    const Sha256& hash = open.remote->hash;
    const bool is_beside = open.beside && writer_.keep_copy(*open.beside, hash);
    if (!is_beside && !writer_.has(hash.hex(), hash)) WS_TRY(fetch(*open.remote));
    WS_LET(const Staged staged, writer_.stage_file(hash.hex(), hash));
    WS_TRY(writer_.place(staged, path, open.local->hash));
    return note(path, open.remote, "received");
  }

  Result<void> fetch(const Attachment& file) {
    if (assets_ == nullptr) return fail(Failure::Kind::usage, "this needs the service", "log in");
    Transfers transfers(session_, store_, *assets_);
    transfers.fetch(file);
    const TransferOutcome outcome = transfers.run();
    const auto why = outcome.not_downloaded.find(file.hash);
    return why == outcome.not_downloaded.end() ? Result<void>() : fail(Failure(why->second));
  }

  Session& session_;
  const Clock& clock_;
  AttachmentStore& store_;
  SafeWriter& writer_;
  Assets* assets_ = nullptr;
};

}  // namespace

Result<void> decide_attachment(Session& session, const Clock& clock, const RelativePath& path, Keep keep) {
  WS_LET(AttachmentStore* const store, session.attachments());
  WS_LET(const auto open, store->conflicts());
  const auto found = open.find(path);
  if (found == open.end()) {
    return fail(Failure::Kind::not_found, fmt::format("no conflict is open about {}", path.text()));
  }
  WS_LET(SafeWriter writer, SafeWriter::open(session.root, attachments_folder));
  return AttachmentDecision(session, clock, *store, writer).decide(path, found->second, keep);
}

}  // namespace ws::sync
