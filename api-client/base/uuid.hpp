/// Identifiers of the API: UUIDs, version 7 where we make them (RFC 9562, 5.7).
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/clock.hpp"
#include "api-client/base/random.hpp"

namespace ws {

/// 36 characters, hyphens in their places, hexadecimal of either case.
bool is_uuid(std::string_view text);

/// Version 7: 48 bits of time, 74 random bits.
std::string make_uuid_v7(Time time, Random& random);

}  // namespace ws
