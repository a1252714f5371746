/// Checks of the operation tables at compile time: `static_assert(well_formed(table));`
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "api-client/contract/errors.hpp"
#include "api-client/contract/schema.hpp"

namespace ws::contract {

constexpr bool is_number(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return !text.empty() && text.size() < 18;
}

constexpr std::int64_t to_number(std::string_view text) {
  const bool negative = text.front() == '-';
  std::int64_t value = 0;
  for (const char c : text.substr(negative ? 1 : 0)) value = value * 10 + (c - '0');
  return negative ? -value : value;
}

/// Whether the default value is allowed by its type.
constexpr bool fits(const Type& type, std::string_view json) {
  switch (type.kind) {
    case Kind::integer:
      return is_number(json) && to_number(json) >= type.min.value_or(to_number(json)) &&
             to_number(json) <= type.max.value_or(to_number(json));
    case Kind::boolean: return json == "true" || json == "false";
    case Kind::choice:
      for (const std::string_view value : type.values) {
        if (json.size() == value.size() + 2 && json.substr(1, value.size()) == value) return true;
      }
      return false;
    case Kind::string: return json.size() >= 2 && json.front() == '"' && json.back() == '"';
    case Kind::number:
    case Kind::uuid:
    case Kind::date_time:
    case Kind::array:
    case Kind::object:
    case Kind::free_object:
    case Kind::text_map:
    case Kind::any: return false;
  }
  return false;
}

constexpr bool well_formed(const Type& type);

constexpr bool well_formed(const Field& field) {
  if (field.name.empty() || !well_formed(field.type)) return false;
  if (field.help.ends_with('.')) return false;
  if (field.fallback.empty()) return true;
  return field.presence == Presence::optional && fits(field.type, field.fallback);
}

/// Checks schemas recursively from the types that use them, so no schema may contain itself.
constexpr bool well_formed(const Schema& schema) {
  if (schema.name.empty() || schema.fields.empty()) return false;
  for (std::size_t i = 0; i < schema.fields.size(); ++i) {
    if (!well_formed(schema.fields[i])) return false;
    if (schema.source == Source::assumed && schema.fields[i].source != Source::assumed) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (schema.fields[i].name == schema.fields[j].name) return false;
    }
  }
  return true;
}

constexpr bool well_formed(const Type& type) {
  if (type.min && type.max && *type.min > *type.max) return false;
  if ((type.kind == Kind::array) != (type.items != nullptr)) return false;
  if ((type.kind == Kind::object) != (type.object != nullptr)) return false;
  if ((type.kind == Kind::choice) != !type.values.empty()) return false;
  if (type.max_bytes && type.kind != Kind::string) return false;
  if (type.kind != Kind::integer && type.min && *type.min < 0) return false;
  if (type.items != nullptr && !well_formed(*type.items)) return false;
  return type.object == nullptr || well_formed(*type.object);
}

constexpr bool has_parameter(const Operation& operation, In in, std::string_view name) {
  for (const Parameter& parameter : operation.parameters) {
    if (parameter.in == in && parameter.field.name == name) return true;
  }
  return false;
}

constexpr bool has_member(const Operation& operation, std::string_view name) {
  if (operation.request == nullptr) return false;
  for (const Field& field : operation.request->fields) {
    if (field.name == name) return true;
  }
  return false;
}

/// Whether each {name} has a required parameter; `found` counts them, so that unused parameters are noticed.
constexpr bool path_matches(const Operation& operation) {
  std::size_t found = 0;
  for (std::string_view rest = operation.path; rest.find('{') != rest.npos; ++found) {
    rest.remove_prefix(rest.find('{') + 1);
    const std::size_t end = rest.find('}');
    if (end == rest.npos || !has_parameter(operation, In::path, rest.substr(0, end))) return false;
    rest.remove_prefix(end);
  }
  for (const Parameter& parameter : operation.parameters) {
    if (parameter.in != In::path) continue;
    if (parameter.field.presence != Presence::required || parameter.field.null == Null::yes || found-- == 0)
      return false;
  }
  return found == 0 && operation.path.starts_with("/v1");
}

constexpr bool parameters_well_formed(const Operation& operation) {
  for (std::size_t i = 0; i < operation.parameters.size(); ++i) {
    const Field& field = operation.parameters[i].field;
    if (!well_formed(field)) return false;
    // Only scalar values can be sent in a path, a query or a header.
    if (field.type.items != nullptr || field.type.object != nullptr || field.type.kind == Kind::free_object)
      return false;
    if (has_member(operation, field.name)) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (operation.parameters[j].field.name == field.name) return false;
    }
  }
  const bool keyed = has_parameter(operation, In::header, "Idempotency-Key");
  const bool paged = has_parameter(operation, In::query, "limit") && has_parameter(operation, In::query, "cursor");
  return keyed == (operation.idempotency == Idempotency::key) && keyed == (operation.retry == RetryClass::keyed) &&
         (operation.paging != Paging::cursor || paged || has_member(operation, "cursor")) &&
         (operation.paging != Paging::none || !has_parameter(operation, In::query, "limit"));
}

constexpr bool responses_well_formed(const Operation& operation) {
  for (const Response& response : operation.responses) {
    if (response.status < 200 || response.status > 299) return false;
    if (response.schema != nullptr && (response.body != Body::json || !well_formed(*response.schema))) return false;
  }
  return !operation.responses.empty();
}

constexpr bool command_well_formed(const Operation& operation) {
  for (const Argument& argument : operation.arguments) {
    if (argument.placeholder.empty()) return false;
    if (!has_parameter(operation, In::path, argument.target) && !has_member(operation, argument.target)) return false;
  }
  return !operation.command.empty() && !operation.command.starts_with("ws ");
}

constexpr bool well_formed(const Operation& operation) {
  if (operation.id.empty() || operation.summary.empty()) return false;
  if (operation.summary.ends_with('.')) return false;
  if (operation.auth == Auth::none && !operation.scope.empty()) return false;
  if ((operation.method == Method::get || operation.method == Method::del) && operation.request != nullptr)
    return false;
  if (operation.method == Method::get && operation.retry != RetryClass::read) return false;
  if (operation.request != nullptr && !well_formed(*operation.request)) return false;
  for (const std::string_view code : operation.errors) {
    if (find_error(code) == nullptr) return false;
  }
  return path_matches(operation) && parameters_well_formed(operation) && responses_well_formed(operation) &&
         command_well_formed(operation);
}

/// With -fsanitize=undefined, g++ does not accept the comparison of an address with null as a constant expression (GCC
/// bug 71962). Such builds skip the check; all others do it.
#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
inline constexpr bool can_check = false;
#else
inline constexpr bool can_check = true;
#endif

/// Checks each operation, and that no two have the same id, the same command or the same method and path.
constexpr bool well_formed(std::span<const Operation> table) {
  if (!can_check) return true;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!well_formed(table[i])) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (table[i].id == table[j].id || table[i].command == table[j].command) return false;
      if (table[i].method == table[j].method && table[i].path == table[j].path) return false;
    }
  }
  return true;
}

}  // namespace ws::contract
