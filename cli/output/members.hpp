/// Whether the members that `--fields` and `--template` name exist, and whether a format can print all numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "api-client/contract/schema.hpp"

namespace ws::cli {

/// The schema of what an operation answers with: of one item where it is a list. Null where there is none.
const contract::Schema* item_schema(std::string_view operation);

/// The members of an item of one of our own lists ("ws.conflicts"); empty for other shapes.
std::vector<std::string> own_members(std::string_view shape);

/// Fails with `usage` and the members that exist where a path is in none of the items, and the schema of the shape does
/// not know it either. A null and a list may have anything below them. Without items and a schema nothing is known, and
/// nothing fails.
Result<void> check_members(const std::vector<std::string>& paths,
                           const std::vector<const Json*>& items,
                           std::string_view shape);
/// The same before anything is sent, by the schema alone.
Result<void> check_members(const std::vector<std::string>& paths, const contract::Schema& schema);

/// What prints a number: a double, or what JSON itself has.
enum class Numbers {
  of_64_bits,  ///< integers of 64 bits, signed or not; beyond that they were read as doubles
  of_53_bits,  ///< those that a double holds: jq has no others
};
/// Fails with `usage` where an integer would be printed as another one, naming its member.
Result<void> check_numbers(const Json& value, Numbers numbers);

}  // namespace ws::cli
