/// What one value may be, and how its refusal reads in the words of pydantic v2. For `validate.cpp` alone.
#pragma once

#include <optional>
#include <string_view>

#include "api-client/contract/validate.hpp"

namespace ws::contract {

/// Each gives the violation without its `loc`, or nothing. `source` is the field's; a limit of ours counts as assumed
/// wherever it stands.
using Refusal = std::optional<Violation>;

/// Length and form of a text: string, choice, UUID, date-time. Other kinds: nothing.
Refusal check_text(const Type& type, Source source, std::string_view text);
Refusal check_range(const Type& type, Source source, std::int64_t value, const Json& input);
/// An integer that no 64 bits hold; `negative` says on which side.
Refusal check_overflow(const Type& type, Source source, bool negative, const Json& input);
/// Of an array, before its items.
Refusal check_length(const Type& type, Source source, const Json& items);
/// A value of another JSON type than the table says.
Violation wrong_type(const Type& type, Source source, const Json& input);
/// A text that stands for no integer, boolean.
Violation not_parsed(const Type& type, Source source, std::string_view text);
Violation missing(Source source, const Json& parent);

/// A value as an error shows it: long texts and large objects are cut.
Json excerpt(const Json& value);

}  // namespace ws::contract
