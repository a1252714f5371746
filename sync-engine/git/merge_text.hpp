/// The line-level merge of three texts (libgit2's).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::sync::git {

/// The merged text; empty where changes of both sides collide. Pure, but for opening the library the first time.
Result<std::optional<std::string>> merge_text(std::string_view base, std::string_view ours, std::string_view theirs);

}  // namespace ws::sync::git
