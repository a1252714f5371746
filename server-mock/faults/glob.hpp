/// Patterns of paths and operations, as fault rules and verifications write them.
#pragma once

#include <string_view>

namespace ws::mock {

/// `{name}` and `*` stand for a part of a path's segment, `**` for any part of the path.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace ws::mock
