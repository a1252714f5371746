/// Changes one value in a configuration that a person wrote.
///
/// Every other line stays as it is: comments, order, quoting, blank lines, line ends. A changed value keeps its kind of
/// quotes and the comment behind it; a new one goes to the end of its map. What was made is read again before it is
/// given back: it holds exactly what it held before but for that value, or nothing is changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"

namespace ws::cli {

/// `path`: the names that lead to the value, from the top ("profiles", "work", "base_url"); at least one. An empty
/// `value` removes it; one that is not there is no failure. Fails with `usage`: no YAML, or written in a way that
/// cannot be changed without losing something, which names the line.
Result<std::string> edit_config(std::string_view text, const std::vector<std::string>& path, const std::string& value);

}  // namespace ws::cli
