/// A sync conflict in words: what happened, as far as the data tells, and each way out with what it does.
#pragma once

#include <optional>
#include <string>

#include "cli/walk/shown_conflict.hpp"
#include "sync-engine/engine.hpp"

namespace ws::cli::walk {

/// What is known beside the conflict itself. All text is as it came; it is cleaned where it is shown.
struct Facts {
  std::optional<std::string> my_time = {};     ///< "2026-11-20 10:04": when the file here was last written
  std::optional<std::string> their_name = {};  ///< who changed the document last
  std::optional<std::string> their_time = {};
  std::string my_file = {};  ///< of an attachment: "image/png, 12 KB, 640 x 480"
  std::string their_file = {};
  std::string their_place = {};  ///< where their file lies here; empty: nowhere
};

/// `texts.local` is the text that counts as mine.
ShownConflict tell_conflict(const sync::ConflictTexts& texts, const Facts& facts);

}  // namespace ws::cli::walk
