/// The table of the API's operations, and functions to search it.
///
/// Source: API document v1, "Endpoints", "Limits", "Resources and their fields"; what it does not specify is from
/// `decisions.md` and marked assumed. There is one file for each area under `operations/`; a new operation is one new
/// entry in one of them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "api-client/contract/schema.hpp"

namespace ws::contract {

/// `info.version` of the API's OpenAPI document, also returned by `GET /v1`.
inline constexpr std::string_view api_version = "1.0.0";
/// API document, "Authentication", 7: every scope that can be requested, in the document's order.
extern const std::span<const std::string_view> all_scopes;
/// The maximum number of scopes in one device authorization (API document, "Limits").
inline constexpr std::size_t max_scopes_per_authorization = 12;

/// Every operation, in the order of the API document.
std::span<const Operation* const> operations();

/// The OpenAPI tag of an operation of the table: "Documents".
std::string_view area_of(const Operation& operation);

/// Returns null if the id is unknown.
const Operation* find_operation(std::string_view id);
/// Searches by primary command: "docs list". Returns null if there is none.
const Operation* find_command(std::string_view command);

const Parameter* find_parameter(const Operation& operation, std::string_view name);
const Field* find_field(const Schema& schema, std::string_view name);

/// Every named schema used by a request or a response, once each, in order of first use.
std::span<const Schema* const> schemas();
/// The schema and every one that it refers to, directly or not, once each.
std::vector<const Schema*> reached_from(const Schema& schema);

}  // namespace ws::contract
