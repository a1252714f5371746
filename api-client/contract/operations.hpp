/// The table of the API's operations, and the ways to look something up in it.
///
/// Source: API document v1, "Endpoints", "Limits", "Resources and their fields"; what it does not show is from
/// `decisions.md` and marked assumed. One file an area under `operations/`; a new operation is one entry in one of
/// them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "api-client/contract/schema.hpp"

namespace ws::contract {

/// `info.version` of the API's description, and of `GET /v1`.
inline constexpr std::string_view api_version = "1.0.0";
/// API document, "Authentication", 7: every scope that can be asked for, in its order.
extern const std::span<const std::string_view> all_scopes;
/// At most so many in one device authorization (API document, "Limits").
inline constexpr std::size_t max_scopes_per_authorization = 12;

/// Every operation, in the order of the API document.
std::span<const Operation* const> operations();

/// Null where there is none.
const Operation* find_operation(std::string_view id);
/// By the words of its primary command: "docs list". Null where there is none.
const Operation* find_command(std::string_view command);

const Parameter* find_parameter(const Operation& operation, std::string_view name);
const Field* find_field(const Schema& schema, std::string_view name);

/// Every named schema that a request or a response reaches, each once, in order of first appearance.
std::span<const Schema* const> schemas();
/// The schema and every one that it reaches, each once.
std::vector<const Schema*> reached_from(const Schema& schema);

}  // namespace ws::contract
