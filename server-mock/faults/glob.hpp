/// Patterns for paths and operation ids, used in fault rules and verifications.
#pragma once

#include <string_view>

namespace ws::mock {

/// `{name}` and `*` match within a path segment, `**` matches across segments.
bool glob_matches(std::string_view pattern, std::string_view text);
/// Whether there is a text that both patterns match.
bool globs_meet(std::string_view one, std::string_view other);

}  // namespace ws::mock
