/// The ignore rules of a walk, gathered on the way down.
#pragma once

#include <string_view>

#include "api-client/base/result.hpp"
#include "sync-engine/tree/ignore_rules.hpp"

namespace ws::sync {

inline constexpr std::string_view ignore_file_name = ".wsignore";
/// One that is larger is not read: rules are written by people.
inline constexpr std::size_t max_ignore_file_bytes = std::size_t{1} << 20U;

/// Reads the `.wsignore` of a folder, given by descriptor and by its path in the tree, into `rules`. Fails with `disk`.
Result<void> read_ignore_file(int folder_fd, std::string_view folder, IgnoreRules& rules);

}  // namespace ws::sync
