/// Valid values generated from the operation table, for tests that then change one thing.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "api-client/contract/schema.hpp"

namespace ws::test {

inline constexpr const char* sample_uuid = "019a0000-0000-7000-8000-00000000000a";

/// A text of `count` code points, each of `width` bytes: 1, 2 or 4.
std::string text_of(std::int64_t count, int width = 1);
/// A valid value of the type, the smallest if it has limits.
Json sample(const contract::Type& type);
/// An object with only the required fields.
Json sample(const contract::Schema& schema);
/// An object with all fields.
Json full_sample(const contract::Schema& schema);

}  // namespace ws::test
