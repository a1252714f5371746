/// Writes types of the table as JSON Schema 2020-12, the dialect of OpenAPI 3.1. For OpenAPI documents.
#pragma once

#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/contract/schema.hpp"

namespace ws::contract {

/// How an assumed member is treated: a request must hold it as the table says, a response may omit it, and the response
/// of any service (`decisions.md`, rule 2) may also hold null; one of the mock holds it as the table says.
enum class Use { request, response, any_response, mock_response };

/// A field's schema: its type with limits, null, default, description, `x-assumed`. Named schemas are referenced as
/// `refs` + name, with `refs` such as "#/components/schemas/".
Json json_schema(const Field& field, std::string_view refs);
/// The definition of a named schema, for the place that `refs` points to.
Json json_schema(const Schema& schema, Use use, std::string_view refs);
/// `{"$ref": ...}`.
Json reference(std::string_view refs, std::string_view name);

}  // namespace ws::contract
