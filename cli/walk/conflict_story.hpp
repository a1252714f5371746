/// Describes a sync conflict: what happened, as far as it is known, and the effects of each resolution.
#pragma once

#include <optional>
#include <string>

#include "cli/walk/shown_conflict.hpp"
#include "sync-engine/engine.hpp"

namespace ws::cli::walk {

/// Facts beside the conflict itself. Text may contain control characters; the views remove them.
struct Facts {
  std::optional<std::string> my_time = {};     ///< "2026-11-20 10:04": modification time of the local file
  std::optional<std::string> their_name = {};  ///< who last changed the document
  std::optional<std::string> their_time = {};
  std::string my_file = {};  ///< of an attachment: "image/png, 12 KB, 640 x 480"
  std::string their_file = {};
  std::string list_changed = {};              ///< of an attachment: who changed the list of them last, and when
  std::string their_place = {};               ///< path of the local copy of their file; empty: none
  std::optional<sync::Rewound> rewound = {};  ///< of a service that went back; empty: it could not be asked
};

/// `texts.local` is shown as mine.
ShownConflict tell_conflict(const sync::ConflictTexts& texts, const Facts& facts);

}  // namespace ws::cli::walk
