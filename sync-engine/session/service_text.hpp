/// The text of a document as the service has it.
#pragma once

#include <optional>
#include <string>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// The text with that hash where the history keeps it under that blob. `blob` may be empty.
std::optional<std::string> kept_text(Session& session, const git::ObjectId& blob, const Sha256& wanted);

/// What to say where the service would have to be asked.
Failure nobody_to_ask();

/// As `kept_text`; where it is not kept the service is asked. Empty: it has another one by now, or none. Fails with
/// `usage` where nobody can be asked, otherwise as the service does.
Result<std::optional<std::string>> fetch_remote_text(Session& session,
                                                     const DocumentId& document,
                                                     const git::ObjectId& blob,
                                                     const Sha256& wanted);

}  // namespace ws::sync
