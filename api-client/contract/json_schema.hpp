/// Types of the table as JSON Schema 2020-12, the dialect of OpenAPI 3.1. For documents in OpenAPI.
#pragma once

#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/contract/schema.hpp"

namespace ws::contract {

/// What an assumed member of an object means: an answer may lack it, a request must hold it as the table says.
enum class Use { request, response };

/// A field's schema: its type with limits, null, default, description, `x-assumed`. Named schemas are referred to as
/// `refs` + name: "#/components/schemas/".
Json json_schema(const Field& field, std::string_view refs);
/// A named schema by itself, for the place that `refs` points to.
Json json_schema(const Schema& schema, Use use, std::string_view refs);
/// `{"$ref": ...}`.
Json reference(std::string_view refs, std::string_view name);

}  // namespace ws::contract
