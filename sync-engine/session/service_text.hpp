/// The text of a document as the service has it.
#pragma once

#include <optional>
#include <string>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// The text with that hash where the history keeps it under that blob. `blob` may be empty.
std::optional<std::string> find_kept_text(Session& session, const git::ObjectId& blob, const Sha256& wanted);

/// The failure where the service would be needed and is not available.
Failure service_needed();

/// As `find_kept_text`; where it is not kept, it is read from the service. Empty: the service has another text by now,
/// or none. Fails with `usage` where there is no service, otherwise as the service does.
Result<std::optional<std::string>> fetch_remote_text(Session& session,
                                                     const DocumentId& document,
                                                     const git::ObjectId& blob,
                                                     const Sha256& wanted);

}  // namespace ws::sync
