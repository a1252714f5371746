/// The merge of three texts by whole lines, for texts that are not read as Markdown.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::sync::merge {

/// The merged text; empty where changes of both sides collide or touch, as in git. Both sides' same change counts once.
/// The time grows about as the length does. Fails with `internal`.
Result<std::optional<std::string>> merge_lines(std::string_view base, std::string_view ours, std::string_view theirs);

}  // namespace ws::sync::merge
