/// Replaces a file outside a plan, by decision of the user.
#pragma once

#include <optional>
#include <string>

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/session/session.hpp"

namespace ws::sync {

/// Replaces the text `now` (empty: no file) at the path by `text` (empty: no file). The old text goes to the history
/// first. Fails with `conflict` where the file has another text by now; then nothing changed.
Result<void> replace_file(Session& session,
                          SafeWriter& writer,
                          const RelativePath& path,
                          const std::optional<std::string>& now,
                          const std::optional<std::string>& text);

/// The text at `path`; empty where there is no file. Fails with `disk`.
Result<std::optional<std::string>> read_if_there(const SafeWriter& writer, const RelativePath& path);

}  // namespace ws::sync
