/// Names in place of ids.
///
/// A document: its id, the path of a file in a synced folder, the ending of an id that was shown lately, its title
/// where no other document has it, or `last`. An agent: its id or its handle. Anything else: its id, or the ending of
/// one that was shown lately.
#pragma once

#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// Replaces the names among the command's words and flags by the ids that they stand for; an id stays, and with
/// --no-validate everything does. Only a title or a handle is asked of the service. Fails with `usage` where nothing,
/// or more than one thing, has the name; as the service does otherwise.
Result<void> resolve_names(Session& session);

}  // namespace ws::cli
