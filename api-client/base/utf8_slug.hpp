/// The name by which a link leads to a heading.
#pragma once

#include <string>
#include <string_view>

namespace ws::utf8 {

/// GitHub's: lower case; letters, digits, `-` and `_` stay, a blank becomes `-`, all else is dropped.
std::string slug(std::string_view heading);

}  // namespace ws::utf8
