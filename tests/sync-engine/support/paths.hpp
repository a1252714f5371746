/// Names of files, as tests write them.
#pragma once

#include <string_view>

#include "sync-engine/model/relative_path.hpp"

namespace ws::sync::test {

inline RelativePath path(std::string_view text) { return *RelativePath::parse(text); }

}  // namespace ws::sync::test
