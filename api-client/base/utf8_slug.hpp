/// The anchor name of a heading, for links to it.
#pragma once

#include <string>
#include <string_view>

namespace ws::utf8 {

/// GitHub's rule: lower case; letters, digits, `-` and `_` are kept, a space becomes `-`, everything else is dropped.
std::string slug(std::string_view heading);

}  // namespace ws::utf8
