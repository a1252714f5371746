/// Percent-encoding of URL parts (RFC 3986, 2.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ws {

/// Everything but unreserved characters as %XX: for one path segment, a query name or value.
std::string percent_encode(std::string_view text);
/// Empty where a % is not followed by two hexadecimal digits. `+` stays `+`.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace ws
