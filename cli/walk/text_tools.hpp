/// Runs the user's editor or merge tool on texts in a temporary folder.
#pragma once

#include <optional>
#include <string>

#include "api-client/base/result.hpp"

namespace ws::cli::walk {

/// The input of a merge tool.
struct ToolTexts {
  std::string name = {};  ///< of the file: its extension tells the tool the format
  std::optional<std::string> base = {};
  std::string mine = {};
  std::string theirs = {};
  std::string merged = {};  ///< the initial text of MERGED
};

class TextTools {
 public:
  /// `editor`: a shell command; empty: none is configured.
  explicit TextTools(std::string editor) : editor_(std::move(editor)) {}

  /// The edited text. Fails with `usage` if there is no editor, with `disk` if it fails.
  Result<std::string> edit(const std::string& name, const std::string& text) const;

  /// The text that the merge tool writes to MERGED. Runs git's `merge.tool` by `mergetool.NAME.cmd`, or as git would.
  /// Fails with `usage` if none is configured, with `disk` if it fails and its exit code counts
  /// (`mergetool.NAME.trustExitCode`).
  Result<std::string> merge(const ToolTexts& texts) const;

 private:
  std::string editor_;
};

}  // namespace ws::cli::walk
