/// The bytes of a file of the user: brought here before they are wanted, and kept before they are replaced.
#pragma once

#include "api-client/base/result.hpp"
#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/state/attachment_store.hpp"

namespace ws::sync {

/// The failure where bytes have to be fetched and there is no service to ask: its code is `needs_service`.
Failure bytes_need_service();

/// Brings the bytes into `.ws/attachments`, under the name of their hash, where they are not there yet. Fails with
/// `not_found`, with code `needs_service`, or as a download does.
Result<void> bring_bytes(Session& session, AttachmentStore& store, const SafeWriter& writer, const Attachment& file);

/// Before the file at the path, whose bytes are `now`, is replaced or removed. Fails as `ensure_backup` does.
Result<void> back_up(
    Session& session, AttachmentStore& store, SafeWriter& writer, const RelativePath& path, const Sha256& now);

/// Whether a file that was accepted had replaced these bytes, and they were never sent since.
Result<bool> are_unsent(AttachmentStore& store, const RelativePath& path, const Sha256& hash);

/// How the disk spells the name of a file that both sides have, where that is not its NFC: kept for when it comes back.
Result<void> keep_spelling(AttachmentStore& store, const RelativePath& path, const RelativePath& disk);
/// Where the file at `path` lies, or is to lie: by its NFC if that name is there, else as it was spelled last.
Result<RelativePath> spelled_here(const Session& session, AttachmentStore& store, const RelativePath& path);

}  // namespace ws::sync
