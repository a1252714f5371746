/// The commit and the compiler that this program was built with.
#pragma once

#include <string_view>

namespace ws {

/// The commit of the sources, or "unknown" if they were not built from a git checkout.
std::string_view build_commit();
/// For example "GCC 12.2.0".
std::string_view build_compiler();

}  // namespace ws
