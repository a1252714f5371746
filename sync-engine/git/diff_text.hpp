/// What differs between two texts, as git and patch write it.
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::sync::git {

/// The hunks of a unified diff with three lines of context, without the lines that name the files; empty for equal
/// texts. Fails with `internal`.
Result<std::string> diff_text(std::string_view before, std::string_view after);

}  // namespace ws::sync::git
