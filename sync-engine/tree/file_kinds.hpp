/// Which files are synced, by their names: Markdown that is not hidden, and what `include:` of the tree's config adds;
/// and the ignore rules of a walk, gathered on the way down.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "sync-engine/disk/root_folder.hpp"
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

/// Whether a program that keeps files in the cloud left its placeholder in the place of this file, or of a folder above
/// it that is missing: `.NAME.icloud`, `NAME.nextcloud` and the like.
bool is_kept_elsewhere(const RootFolder& root, std::string_view path);

inline constexpr std::string_view ignore_file_name = ".wsignore";
/// One that is larger is not read: rules are written by people.
inline constexpr std::size_t max_ignore_file_bytes = std::size_t{1} << 20U;

/// The rules of a folder, given by descriptor and by its path in the tree, in the file of that name. Fails with `disk`.
Result<std::string> read_ignore_file(int folder_fd, std::string_view folder, std::string_view name = ignore_file_name);

}  // namespace ws::sync
