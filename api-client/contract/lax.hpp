/// Text that stands for a value, read as leniently as pydantic v2 reads a query. For `validate.cpp` alone.
#pragma once

#include <string_view>

#include "api-client/contract/checks.hpp"

namespace ws::contract {

/// The refusal without its `loc`, or nothing.
Refusal check_lax(const Type& type, Source source, std::string_view text);

}  // namespace ws::contract
