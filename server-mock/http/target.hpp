/// Decodes the parts of a request target.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ws::mock::http {

/// The segments of "/v1/documents/a%3Ab": "v1", "documents", "a:b". "%2F" does not split a segment. Empty if a % is not
/// followed by two hexadecimal digits, or if the path does not begin with a slash.
std::optional<std::vector<std::string>> split_path(std::string_view path);

/// Normalizes percent-encoding: "/v1/nodes/x:move" for "/v1/nodes/x%3Amove". Returned unchanged if it cannot be
/// decoded.
std::string decoded_path(std::string_view path);

/// Splits "/_s/ID/v1/me" into the sandbox's id and the path inside the sandbox. Without the prefix the id is empty.
struct SandboxPath {
  std::string_view id = {};
  std::string_view path = {};
};
SandboxPath within_sandbox(std::string_view path);

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Names and values of "limit=5&q=a+b" in order, duplicates included. Also reads the body of an HTML form. What cannot
/// be decoded is kept as it is.
Pairs parse_query(std::string_view query);

/// The first value of that name; empty if there is none.
std::string_view value_of(const Pairs& pairs, std::string_view name);

}  // namespace ws::mock::http
