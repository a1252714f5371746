/// Which files are synced, by their names: Markdown that is not hidden, and what `include:` of the tree's config adds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sync-engine/model/relative_path.hpp"
#include "sync-engine/tree/ignore_rules.hpp"

namespace ws::sync {

class FileKinds {
 public:
  FileKinds() = default;  ///< Markdown alone
  /// `include`: globs in gitignore syntax, from the root of the tree: `*.txt`, `docs/**`, `.github/*.md`. The last one
  /// that matches a file decides; where none does, the folder it lies in is asked for.
  static FileKinds with(const std::vector<std::string>& include);

  /// Whether names alone decide, so that nothing hidden and nothing but Markdown need be looked at.
  bool is_markdown_alone() const { return !included_; }
  /// Safe to call from several threads.
  bool takes(std::string_view path) const;

 private:
  std::optional<Patterns> included_ = {};
};

}  // namespace ws::sync
