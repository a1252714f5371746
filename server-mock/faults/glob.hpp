/// Patterns for paths and operation ids, used in fault rules and verifications.
#pragma once

#include <string_view>

namespace ws::mock {

/// `{name}` and `*` match within a path segment, `**` matches across segments.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace ws::mock
