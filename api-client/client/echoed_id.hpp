/// Whether an answer is about the object that the call named.
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

/// The member of the operation's answer that repeats what this parameter of its path named: "id" of `document_id` in
/// "docs.get", "page_id" of it in "comments.list". Empty where the answer does not say.
std::string_view member_that_repeats(const contract::Operation& operation, std::string_view parameter);

struct OtherObject {
  std::string asked_for = {};
  std::string came = {};
};
/// Empty: the answer names what was asked for, or nothing. UUIDs are the same in any case of their letters.
std::optional<OtherObject> find_other_object(const contract::Operation& operation,
                                             const std::vector<std::pair<std::string, std::string>>& parameters,
                                             const Json& answer);

}  // namespace ws
