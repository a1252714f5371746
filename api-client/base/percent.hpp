/// Percent-encoding of URL parts (RFC 3986, 2.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ws {

/// Encodes every character except unreserved ones as %XX: for one path segment, a query name or a query value.
std::string percent_encode(std::string_view text);
/// Empty if a % is not followed by two hexadecimal digits. `+` is not decoded.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace ws
