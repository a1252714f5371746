/// Writing to a file that the user named: follows a link, and keeps the file's mode and group.
#pragma once

#include <filesystem>

#include "api-client/base/result.hpp"

namespace ws {

/// Returns the file to write for `path`: the target if `path` is a link, as editors do, otherwise `path` itself. Fails
/// with `disk` if the link is dangling.
Result<std::filesystem::path> follow_link(const std::filesystem::path& path);

/// Gives the open file the mode and group of the file at `path`, if it exists. If the group cannot be set, the group
/// permissions are removed. Fails with `disk`.
Result<void> copy_mode_and_group(int fd, const std::filesystem::path& path);

}  // namespace ws
