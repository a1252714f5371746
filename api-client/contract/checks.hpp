/// Checks of single values, with error messages worded as pydantic v2 words them. For `validate.cpp` alone.
#pragma once

#include <optional>
#include <string_view>

#include "api-client/contract/validate.hpp"

namespace ws::contract {

/// A violation without its `loc`, or nothing. `source` is the field's; a limit that we have assumed counts as assumed
/// in any field.
using Refusal = std::optional<Violation>;

/// Checks length and form of a text: string, choice, UUID, date-time. Other kinds are not checked.
Refusal check_text(const Type& type, Source source, std::string_view text);
Refusal check_range(const Type& type, Source source, std::int64_t value, const Json& input);
/// An integer that does not fit into 64 bits; `negative` says on which side.
Refusal check_overflow(const Type& type, Source source, bool negative, const Json& input);
/// Checks the number of an array's items, before the items.
Refusal check_length(const Type& type, Source source, const Json& items);
/// A value whose JSON type differs from the table's.
Violation wrong_type(const Type& type, Source source, const Json& input);
/// A text that cannot be parsed as the integer or boolean that is expected.
Violation not_parsed(const Type& type, Source source, std::string_view text);
Violation missing(Source source, const Json& parent);

/// The value as it is shown in an error: long texts and large objects are truncated.
Json excerpt(const Json& value);

}  // namespace ws::contract
