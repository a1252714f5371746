/// Runs the user's editor or merge tool on texts in a temporary folder.
#pragma once

#include <optional>
#include <string>

#include "api-client/base/result.hpp"

namespace ws::cli::walk {

/// What a merge tool works on.
struct ToolTexts {
  std::string name = {};  ///< of the file: its ending tells the tool what it is
  std::optional<std::string> base = {};
  std::string mine = {};
  std::string theirs = {};
  std::string merged = {};  ///< what it begins with
};

class TextTools {
 public:
  /// `editor`: a line of shell; empty: there is none.
  explicit TextTools(std::string editor) : editor_(std::move(editor)) {}

  /// The text as the editor leaves it. Fails with `usage` where there is no editor, `disk` where it fails.
  Result<std::string> edit(const std::string& name, const std::string& text) const;

  /// The text that the merge tool leaves as MERGED: the one of git's `merge.tool`, run as `mergetool.NAME.cmd` says,
  /// or as git itself would. Fails with `usage` where none is set up, `disk` where it fails and that may be believed
  /// (`mergetool.NAME.trustExitCode`).
  Result<std::string> merge(const ToolTexts& texts) const;

 private:
  std::string editor_;
};

}  // namespace ws::cli::walk
