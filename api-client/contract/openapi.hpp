/// Renders the operation table as an OpenAPI 3.1 document.
#pragma once

#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/contract/schema.hpp"

namespace ws::contract {

/// The whole document. Fields and limits that are not published carry `x-assumed: true`; operations carry
/// `x-retry-class`, `x-command`, `x-required-scope`, `x-required-role`. `server_url` may be empty: relative.
/// As `mocked` the answers are those of the mock: their assumed members are required and not null.
enum class As { published, mocked };
Json openapi(std::string_view server_url, As as = As::published);

/// One operation for machines (`ws schema ID`): request and response as self-contained JSON Schema 2020-12.
Json operation_schema(const Operation& operation);

}  // namespace ws::contract
