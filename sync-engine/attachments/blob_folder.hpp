/// `.ws/attachments`: bytes by their hash, on the way to their place or kept for good because nobody else has them.
#pragma once

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/remote/assets.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

inline constexpr const char* attachments_folder = "attachments";

/// What a killed run had in hand there: bytes that nobody else has get the name of their hash, the rest goes.
Result<void> recover_blob_folder(AttachmentStore& store, SafeWriter& writer);

/// Before a file here is replaced or removed: the service has its bytes, or a copy of them is kept. `known`: an Asset
/// that is said to hold them. `assets` may be null, or out of reach: then a copy is kept. Fails with `auth`, `conflict`
/// or `disk`.
Result<void> ensure_backup(SafeWriter& writer,
                           Assets* assets,
                           const RelativePath& disk,
                           const Sha256& hash,
                           const std::optional<Attachment>& known);

}  // namespace ws::sync
