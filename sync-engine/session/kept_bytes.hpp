/// What is known of a file that notes show beside the base: its bytes in `.ws/attachments`, by their hash, and how its
/// name is spelled here.
#pragma once

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

inline constexpr const char* attachments_folder = "attachments";

/// Whether a file that was accepted had replaced these bytes, and they were never sent since.
Result<bool> are_unsent(AttachmentStore& store, const RelativePath& path, const Sha256& hash);

/// How the disk spells the name of a file that both sides have, where that is not its NFC: kept for when it comes back.
Result<void> keep_spelling(AttachmentStore& store, const RelativePath& path, const RelativePath& disk);
/// Where the file at `path` lies, or is to lie: by its NFC if that name is there, else as it was spelled last.
Result<RelativePath> spelled_here(const Session& session, AttachmentStore& store, const RelativePath& path);

}  // namespace ws::sync
