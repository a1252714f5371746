/// How alike two names are.
#pragma once

#include <cstddef>
#include <string_view>

namespace ws::sync::links {

/// Letters to add, drop or change; more than `most` is `most` + 1.
std::size_t edits_between(std::string_view a, std::string_view b, std::size_t most);

}  // namespace ws::sync::links
