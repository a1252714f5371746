/// What this program was built from.
#pragma once

#include <string_view>

namespace ws {

/// The commit of the sources, or "unknown" where they came without one.
std::string_view build_commit();
/// "GCC 12.2.0".
std::string_view build_compiler();

}  // namespace ws
