/// Identifiers of the API: UUIDs; those we make are version 7 (RFC 9562, 5.7).
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/clock.hpp"
#include "api-client/base/random.hpp"

namespace ws {

/// Whether the text is 36 characters: hexadecimal digits of either case with hyphens in the usual places.
bool is_uuid(std::string_view text);

/// Version 7: a 48-bit timestamp and 74 random bits.
std::string make_uuid_v7(Time time, Random& random);

}  // namespace ws
