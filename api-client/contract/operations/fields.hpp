/// The words in which the files of the table write fields down. For `operations/*.cpp` alone.
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
/// Null is a value of it too: "or null".
constexpr Field nullable(Field field) {
  field.null = Null::yes;
  return field;
}
/// What stands where nothing was sent, as JSON text.
constexpr Field with_default(Field field, std::string_view json) {
  field.fallback = json;
  return field;
}
/// A field that the document does not show, with all its limits.
constexpr Field assumed(Field field) {
  field.source = Source::assumed;
  field.type.limits = Source::assumed;
  return field;
}

/// The fields of an object of which the document shows nothing.
template <std::size_t count>
constexpr std::array<Field, count> all_assumed(const Field (&fields)[count]) {
  std::array<Field, count> result = {};
  for (std::size_t i = 0; i < count; ++i) result[i] = assumed(fields[i]);
  return result;
}

/// A list of fields, then another.
template <std::size_t first, std::size_t second>
constexpr std::array<Field, first + second> joined(const Field (&a)[first], const std::array<Field, second>& b) {
  std::array<Field, first + second> result = {};
  for (std::size_t i = 0; i < first; ++i) result[i] = a[i];
  for (std::size_t i = 0; i < second; ++i) result[first + i] = b[i];
  return result;
}

constexpr Parameter in_path(std::string_view name, Type type, std::string_view help = {}) {
  return {In::path, required(name, type, help)};
}
constexpr Parameter in_query(Field field) { return {In::query, field}; }

}  // namespace ws::contract
