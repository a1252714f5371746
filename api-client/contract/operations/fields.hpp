/// Functions to declare the fields of the table. For `operations/*.cpp` alone.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "api-client/contract/schema.hpp"

namespace ws::contract {

constexpr Field required(std::string_view name, Type type, std::string_view help = {}) {
  return {.name = name, .type = type, .presence = Presence::required, .help = help};
}
constexpr Field optional(std::string_view name, Type type, std::string_view help = {}) {
  return {.name = name, .type = type, .help = help};
}
/// The field also accepts null ("or null" in the API document).
constexpr Field nullable(Field field) {
  field.null = Null::yes;
  return field;
}
/// The value used if the field is not sent, as JSON text.
constexpr Field with_default(Field field, std::string_view json) {
  field.fallback = json;
  return field;
}
/// The field holds a secret of this kind: it is never logged or recorded (`secrets.hpp`).
constexpr Field secret(std::string_view kind, Field field) {
  field.secret = kind;
  return field;
}
/// A field that the API document does not specify; all its limits are assumed.
constexpr Field assumed(Field field) {
  field.source = Source::assumed;
  field.type.limits = Source::assumed;
  return field;
}

/// All fields of an object that the API document does not specify.
template <std::size_t count>
constexpr std::array<Field, count> all_assumed(const Field (&fields)[count]) {
  std::array<Field, count> result = {};
  for (std::size_t i = 0; i < count; ++i) result[i] = assumed(fields[i]);
  return result;
}

/// Concatenates two lists of fields.
template <std::size_t first, std::size_t second>
constexpr std::array<Field, first + second> joined(const Field (&a)[first], const std::array<Field, second>& b) {
  std::array<Field, first + second> result = {};
  for (std::size_t i = 0; i < first; ++i) result[i] = a[i];
  for (std::size_t i = 0; i < second; ++i) result[first + i] = b[i];
  return result;
}

/// The same fields but for the one of that name, which is one of them.
template <std::size_t count>
constexpr std::array<Field, count - 1> without(std::string_view name, const std::array<Field, count>& fields) {
  std::array<Field, count - 1> result = {};
  std::size_t next = 0;
  for (const Field& field : fields) {
    if (field.name != name) result.at(next++) = field;
  }
  return result;
}

constexpr Parameter in_path(std::string_view name, Type type, std::string_view help = {}) {
  return {In::path, required(name, type, help)};
}
constexpr Parameter in_query(Field field) { return {In::query, field}; }

}  // namespace ws::contract
