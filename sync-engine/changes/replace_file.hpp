/// Replaces a file outside a plan, by decision of the user: by a given text, or by one that the history holds.
#pragma once

#include <optional>
#include <string>

#include "sync-engine/disk/safe_write.hpp"
#include "sync-engine/model/relative_path.hpp"
#include "sync-engine/session/session.hpp"
#include "sync-engine/state/history_log.hpp"

namespace ws::sync {

/// Replaces the text `now` (empty: no file) at the path, as a step of the open operation: one that is cut off is ended
/// by the next command. The old text goes to the history first. `document`: whose file it stays; empty: nobody's yet.
/// Fails with `conflict` where the file has another text by now; then nothing changed.
Result<void> replace_file(Session& session,
                          const DocumentId& document,
                          const RelativePath& path,
                          const std::optional<std::string>& now,
                          const std::string& text);

/// The text at `path`; empty where there is no file. Fails with `disk`.
Result<std::optional<std::string>> read_if_there(const SafeWriter& writer, const RelativePath& path);

struct StateText {
  std::string state = {};  ///< its id
  std::string text = {};
};
/// `at`: the id of a state (a prefix will do); empty: the newest state in which the file had another text than `now`.
/// Fails with `not_found` where the history has no such text.
Result<StateText> find_state_text(HistoryLog& log,
                                  const RelativePath& path,
                                  const std::optional<std::string>& at,
                                  const std::optional<std::string>& now);

/// Writes that text.
/// What is on disk goes to the history first, so that a second restore undoes the first. The change is a local edit:
/// the next run sends it. Fails with `not_found` where the history has no such text.
Result<Restored> restore(Session& session,
                         const RelativePath& path,
                         const std::optional<std::string>& at,
                         bool dry_run);

}  // namespace ws::sync
