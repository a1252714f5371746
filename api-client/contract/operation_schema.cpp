#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/json_schema.hpp"
#include "api-client/contract/openapi.hpp"
#include "api-client/contract/operations.hpp"

namespace ws::contract {

namespace {

constexpr std::string_view schema_refs = "#/$defs/";

void define(const Schema& schema, Use use, Json& definitions) {
  for (const Schema* each : reached_from(schema)) {
    definitions[std::string(each->name)] = json_schema(*each, use, schema_refs);
  }
}

Json parameters_schema(const Operation& operation) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Parameter& parameter : operation.parameters) {
    Json schema = json_schema(parameter.field, schema_refs);
    schema["x-in"] = name(parameter.in);
    properties[std::string(parameter.field.name)] = std::move(schema);
    if (parameter.field.presence == Presence::required) required.push_back(parameter.field.name);
  }
  Json result = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) result["required"] = std::move(required);
  return result;
}

Json facts_of(const Operation& operation) {
  Json facts = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", operation.id},
                {"description", operation.summary},
                {"x-method", name(operation.method)},
                {"x-path", operation.path},
                {"x-command", fmt::format("ws {}", operation.command)},
                {"x-retry-class", name(operation.retry)}};
  if (!operation.scope.empty()) facts["x-required-scope"] = operation.scope;
  if (operation.role != Role::none) facts["x-required-role"] = name(operation.role);
  return facts;
}

}  // namespace

Json operation_schema(const Operation& operation) {
  Json definitions = Json::object();
  Json properties = Json::object();
  Json required = Json::array();
  if (!operation.parameters.empty()) {
    properties["parameters"] = parameters_schema(operation);
    if (properties["parameters"].contains("required")) required.push_back("parameters");
  }
  if (operation.request != nullptr) {
    define(*operation.request, Use::request, definitions);
    properties["body"] = reference(schema_refs, operation.request->name);
    required.push_back("body");
  }
  const Response& response = operation.responses.front();
  if (response.schema != nullptr) {
    define(*response.schema, Use::response, definitions);
    properties["response"] = reference(schema_refs, response.schema->name);
  } else if (response.body == Body::json) {
    properties["response"] = {{"type", "object"}};
  }
  Json result = facts_of(operation);
  result["type"] = "object";
  result["properties"] = std::move(properties);
  if (!required.empty()) result["required"] = std::move(required);
  result["$defs"] = std::move(definitions);
  return result;
}

}  // namespace ws::contract
