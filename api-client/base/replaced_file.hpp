/// The target of a write that the user named: follows its link, keeps its mode and group.
#pragma once

#include <filesystem>

#include "api-client/base/result.hpp"

namespace ws {

/// The file that a write to `path` is for: where a link leads, as an editor has it; else `path` itself. Fails with
/// `disk` where the link leads to nothing.
Result<std::filesystem::path> follow_link(const std::filesystem::path& path);

/// Gives the open file the mode and the group of the one at `path`, if there is one; where it cannot have the group,
/// the group gets no rights. Fails with `disk`.
Result<void> take_over_mode(int fd, const std::filesystem::path& path);

}  // namespace ws
