/// Checks of query values, parsed as leniently as pydantic v2 parses a query ("lax mode"). For `validate.cpp` alone.
#pragma once

#include <string_view>

#include "api-client/contract/checks.hpp"

namespace ws::contract {

/// A violation without its `loc`, or nothing.
Refusal check_lax(const Type& type, Source source, std::string_view text);

}  // namespace ws::contract
