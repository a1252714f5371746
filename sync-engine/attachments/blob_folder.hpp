/// `.ws/attachments`: bytes by their hash, on the way to their place or kept for good because nobody else has them; old
/// ones are dropped as `collect_history` drops old texts.
#pragma once

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/session/kept_bytes.hpp"
#include "sync-engine/state/history_gc.hpp"

namespace ws::sync {

/// What a killed run had in hand there: bytes that nobody else has get the name of their hash, the rest goes.
Result<void> recover_blob_folder(AttachmentStore& store, SafeWriter& writer);

/// Before a file here is replaced or removed: the service has its bytes, or a copy of them is kept. `known`: an Asset
/// that is said to hold them. Where the service is out of reach a copy is kept. Fails with `auth`, `conflict` or
/// `disk`.
Result<void> ensure_backup(Session& session,
                           SafeWriter& writer,
                           const RelativePath& disk,
                           const Sha256& hash,
                           const std::optional<Attachment>& known);

/// Bytes stay if a state within the time to keep has them, or the state in force when that time began; if an open
/// conflict, an operation that can be undone, an upload in doubt or a row of the list names them; and if their file is
/// younger. States whose bytes are neither here nor on the service are deleted with them. Adds to the report. After an
/// interruption the next call drops the rest. The caller holds the tree's lock (a dry run needs none). Fails with
/// `disk`, or as the store does.
Result<void> collect_bytes(Session& session, const GcOptions& options, GcReport& report);

}  // namespace ws::sync
