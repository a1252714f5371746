/// A conflict of two texts, decided in an editor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// Puts both texts into the working file: what merges is merged, what collides stands between diff3 markers. The text
/// that was there goes to the history, the conflict stays open. Fails with `usage` where there are no two texts, or
/// where markers stand in the file already.
Result<void> write_markers(Session& session, const Conflict& conflict);

/// The merged text where none was given: the working file, if it was changed since the conflict was recorded; else the
/// clean merge of the three texts. Fails with `usage` where markers are left, or the texts collide.
Result<std::string> merged_text(Session& session, const Conflict& conflict);

}  // namespace ws::sync
