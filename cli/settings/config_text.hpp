/// Changes one value in a hand-written configuration file.
///
/// All other lines are preserved: comments, order, quoting, blank lines, line endings. A changed value keeps its quotes
/// and trailing comment; a new one is appended to its map. The result is parsed again before it is returned: if it
/// differs from the old content in anything but that value, nothing is changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"

namespace ws::cli {

/// `path` is the path of keys to the value ("profiles", "work", "base_url"), not empty. An empty `value` removes it; it
/// is not an error if it does not exist. Fails with `usage` if the file is not YAML, or is written in a style that
/// cannot be changed without losing something; the message names the line.
Result<std::string> edit_config(std::string_view text, const std::vector<std::string>& path, const std::string& value);

}  // namespace ws::cli
