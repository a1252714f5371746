/// Three texts merged by lines as git does (libgit2 has git's own code for it), and how conflicts are marked.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::sync::git {

/// As `merge.conflictStyle` names them (git-config): `merge` shows ours and theirs, each line that both have once;
/// `diff3` the base too; `zdiff3` the base, and what ours and theirs have in common at their ends outside the markers.
enum class MarkerStyle { merge, diff3, zdiff3 };

struct Markers {
  std::string ours = {};  ///< the label behind `<<<<<<<`; empty: none
  std::string base = {};
  std::string theirs = {};
  std::size_t size = 7;  ///< characters of a marker
  MarkerStyle style = MarkerStyle::merge;
};

struct MergedFile {
  std::string text = {};  ///< conflicts stand between markers
  bool is_clean = true;
};

/// Whether git takes the text for binary, which it merges in no way: a NUL among its first 8000 bytes.
bool is_binary(std::string_view text);

/// Line ends are part of the lines. Fails with `internal` where libgit2 cannot be opened, or `disk` where it fails.
Result<MergedFile> merge_file(std::string_view base,
                              std::string_view ours,
                              std::string_view theirs,
                              const Markers& markers);

}  // namespace ws::sync::git
