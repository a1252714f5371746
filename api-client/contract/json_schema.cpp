#include "api-client/contract/json_schema.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace ws::contract {
namespace {

std::string_view type_name(Kind kind) {
  switch (kind) {
    case Kind::string:
    case Kind::uuid:
    case Kind::date_time:
    case Kind::choice: return "string";
    case Kind::integer: return "integer";
    case Kind::number: return "number";
    case Kind::boolean: return "boolean";
    case Kind::array: return "array";
    case Kind::object:
    case Kind::free_object:
    case Kind::text_map: return "object";
    case Kind::any: return "";
  }
  return "";
}

/// Minimum, maximum and choice as the JSON Schema keywords for the type's kind.
Json limits_of(const Type& type) {
  Json limits = Json::object();
  const bool is_text = type.kind == Kind::string;
  const bool is_array = type.kind == Kind::array;
  if (type.min) limits[is_text ? "minLength" : is_array ? "minItems" : "minimum"] = *type.min;
  if (type.max) limits[is_text ? "maxLength" : is_array ? "maxItems" : "maximum"] = *type.max;
  // Only an approximation: code points never outnumber bytes, so every valid text has at most this many.
  if (type.max_bytes) {
    limits["maxLength"] = *type.max_bytes;
    limits["x-max-bytes"] = *type.max_bytes;
  }
  if (type.kind == Kind::choice && type.values.size() == 1) limits["const"] = type.values.front();
  if (type.kind == Kind::choice && type.values.size() > 1) limits["enum"] = type.values;
  return limits;
}

/// With `whole`, the field itself is marked as assumed, and its limits need no mark.
Json schema_of(const Type& type, Source field, std::string_view refs) {
  if (type.kind == Kind::object) return reference(refs, type.object->name);
  Json schema = Json::object();
  if (type.kind != Kind::any) schema["type"] = type_name(type.kind);
  if (type.kind == Kind::uuid) schema["format"] = "uuid";
  if (type.kind == Kind::date_time) schema["format"] = "date-time";
  if (type.kind == Kind::text_map) schema["additionalProperties"] = {{"type", "string"}};
  if (type.items != nullptr) schema["items"] = schema_of(*type.items, field, refs);
  Json limits = limits_of(type);
  if (limits.empty()) return schema;
  if (type.limits == Source::assumed && field == Source::published) {
    limits["x-assumed"] = true;
    schema["allOf"] = Json::array({std::move(limits)});
  } else {
    schema.update(limits);
  }
  return schema;
}

Json or_null(Json schema) {
  if (!schema.contains("type") || schema.contains("enum") || schema.contains("const") || schema.contains("allOf")) {
    Json result = Json::object();
    result["anyOf"] = Json::array({std::move(schema), Json({{"type", "null"}})});
    return result;
  }
  schema["type"] = Json::array({schema["type"], "null"});
  return schema;
}

}  // namespace

Json reference(std::string_view refs, std::string_view name) {
  Json result = Json::object();
  result["$ref"] = std::string(refs) + std::string(name);
  return result;
}

Json json_schema(const Field& field, std::string_view refs) {
  Json schema = schema_of(field.type, field.source, refs);
  if (field.null == Null::yes) schema = or_null(std::move(schema));
  if (!field.help.empty()) schema["description"] = field.help;
  if (!field.fallback.empty()) schema["default"] = parse_bounded(field.fallback).value_or(Json());
  if (field.source == Source::assumed) schema["x-assumed"] = true;
  return schema;
}

Json json_schema(const Schema& schema, Use use, std::string_view refs) {
  Json result = {{"type", "object"}};
  if (!schema.help.empty()) result["description"] = schema.help;
  Json properties = Json::object();
  Json required = Json::array();
  Json expected = Json::array();
  for (Field field : schema.fields) {
    if (use == Use::any_response && field.source == Source::assumed) field.null = Null::yes;
    properties[std::string(field.name)] = json_schema(field, refs);
    if (field.presence != Presence::required) continue;
    const bool is_published = field.source == Source::published;
    if (use == Use::request || use == Use::mock_response || is_published) required.push_back(field.name);
    if (!is_published) expected.push_back(field.name);
  }
  result["properties"] = std::move(properties);
  if (!required.empty()) result["required"] = std::move(required);
  // Members that the published document does not require: of a request they are in `required`, of a response the mock
  // always sends them.
  if (!expected.empty()) result["x-assumed-required"] = std::move(expected);
  if (schema.source == Source::assumed) result["x-assumed"] = true;
  return result;
}

}  // namespace ws::contract
