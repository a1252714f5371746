/// Checks that a response is about the object that the call named.
///
/// Private to `client*.cpp`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/contract/schema.hpp"

namespace ws {

/// The member of the operation's response that repeats this parameter of its path: "id" for `document_id` in
/// "docs.get", "page_id" in "comments.list". Empty if the response does not repeat it.
std::string_view member_that_repeats(const contract::Operation& operation, std::string_view parameter);

struct OtherObject {
  std::string asked_for = {};
  std::string came = {};
};
/// Empty if the response names the requested object, or none. UUIDs are compared without regard to case.
std::optional<OtherObject> find_other_object(const contract::Operation& operation,
                                             const std::vector<std::pair<std::string, std::string>>& parameters,
                                             const Json& answer);

}  // namespace ws
