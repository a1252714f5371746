/// The parts of a request's target, decoded once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ws::mock::http {

/// The segments of "/v1/documents/a%3Ab": "v1", "documents", "a:b". A "%2F" stays within its segment. Empty where a %
/// is not followed by two hexadecimal digits, or where the path does not begin with a slash.
std::optional<std::vector<std::string>> split_path(std::string_view path);

/// "/v1/nodes/x:move" for "/v1/nodes/x%3Amove", which means the same; as it came where it cannot be decoded.
std::string decoded_path(std::string_view path);

/// "/_s/ID/v1/me" as the sandbox's id and the path that the sandbox itself sees. Without the prefix: no id.
struct SandboxPath {
  std::string_view id = {};
  std::string_view path = {};
};
SandboxPath within_sandbox(std::string_view path);

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// "limit=5&q=a+b": names and values in their order, doubles too. The same of a form's body. What cannot be decoded
/// stands as it came.
Pairs parse_query(std::string_view query);

/// The first value of that name; empty where there is none.
std::string_view value_of(const Pairs& pairs, std::string_view name);

}  // namespace ws::mock::http
