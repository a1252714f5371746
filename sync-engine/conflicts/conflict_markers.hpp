/// A conflict of two texts, decided in an editor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// Writes the merge of both texts into the working file, with diff3 markers where they overlap. The previous text goes
/// to the history; the conflict stays open. Fails with `usage` where there are no two texts, or where the file has
/// markers already.
Result<void> write_markers(Session& session, const Conflict& conflict);

/// The merged text where none was given: the working file, if it was changed since the conflict was recorded; else the
/// clean merge of the three texts. Fails with `usage` where markers are left, or the texts collide.
Result<std::string> merged_text(Session& session, const Conflict& conflict);

}  // namespace ws::sync
