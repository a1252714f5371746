#include "api-client/contract/openapi.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/contract/errors.hpp"
#include "api-client/contract/json_schema.hpp"
#include "api-client/contract/operations.hpp"
#include "api-client/contract/problem.hpp"

namespace ws::contract {
namespace {

constexpr std::string_view refs = "#/components/schemas/";

constexpr std::string_view description =
    "A Workspace API for software agents and people: questions, search, documents, comments, agents and their "
    "events, files, local Markdown sync, test control.\n\n"
    "What carries `x-assumed: true` is not in the published API document: a service may answer otherwise. So are all "
    "scopes (`x-required-scope`), roles (`x-required-role`) and errors other than 422. Of an answer it may be missing "
    "or null. `x-command` is the command of `ws`, `x-retry-class` what may be repeated when no usable answer came.";

/// Operations whose responses carry an `ETag`: a request with `If-None-Match` can get 304 without a body.
constexpr std::string_view validated[] = {"docs.get", "files.content"};

constexpr std::string_view tag_descriptions[][2] = {
    {"Authorization and identity", "Log in on a device; who am I, and what may I do"},
    {"Workspaces, projects, nodes", "The tree of Projects, Pages and documents"},
    {"Questions and conversations", "Ask against Workspace knowledge and memory, read the stored answers"},
    {"Search", "Search knowledge, with page, node, chunk and source references"},
    {"Documents", "Read, create, update by content revision, archive, share privately"},
    {"Comments", "Threads on a document, with replies and a status"},
    {"Files", "Original files as Assets: upload, exact bytes, organization runs"},
    {"Local Markdown sync", "Plan, pull, push, commit, resolve conflicts"},
    {"Agents and agent events", "Agent identities and their claimable queue of events"},
    {"Administrator test control", "Test catalog, cases, suites and runs"},
    {"Discovery", "What the service can do"},
};

Json json_content(Json schema) {
  Json content = Json::object();
  content["application/json"] = {{"schema", std::move(schema)}};
  return content;
}

Json parameter_object(const Parameter& parameter) {
  Json result = {{"name", parameter.field.name}, {"in", name(parameter.in)}};
  result["required"] = parameter.field.presence == Presence::required;
  if (!parameter.field.help.empty()) result["description"] = parameter.field.help;
  if (parameter.field.source == Source::assumed) result["x-assumed"] = true;
  Json schema = json_schema(parameter.field, refs);
  schema.erase("description");
  schema.erase("x-assumed");
  result["schema"] = std::move(schema);
  return result;
}

Json success_object(const Response& response) {
  Json result = {{"description", reason_phrase(response.status)}};
  if (response.source == Source::assumed) result["x-assumed"] = true;
  switch (response.body) {
    case Body::none: break;
    case Body::bytes:
      // Content is returned with the media type named at upload, which can be any.
      for (const char* const type : {"application/octet-stream", "*/*"}) {
        result["content"][type] = {{"schema", {{"type", "string"}, {"format", "binary"}}}};
      }
      break;
    case Body::json:
      result["content"] =
          json_content(response.schema == nullptr ? Json{{"type", "object"}} : reference(refs, response.schema->name));
      break;
  }
  return result;
}

Json refusal_object(int status, const std::vector<std::string_view>& codes) {
  Json result = {{"description", reason_phrase(status)}};
  // Any service may send a problem document or a page; the mock does by the switch `error_style`.
  Json content = json_content(reference(refs, "Error"));
  content["application/problem+json"] = {{"schema", reference(refs, "Problem")}};
  content["text/html"] = {{"schema", {{"type", "string"}}}};
  result["content"] = std::move(content);
  result["x-codes"] = codes;
  result["x-assumed"] = true;
  return result;
}

/// Adds one response for each status, in numerical order, naming the codes that come with it.
void add_errors(const Operation& operation, Json& responses) {
  std::map<int, std::vector<std::string_view>> codes;
  for (const ErrorCode* error : errors_of(operation)) codes[error->status].push_back(error->code);
  if (!operation.parameters.empty() || operation.request != nullptr) codes[422] = {};
  for (const auto& [status, names] : codes) {
    Json& response = responses[std::to_string(status)];
    if (status == 422) {
      response = {{"description", "Validation error"},
                  {"content", json_content(reference(refs, "HTTPValidationError"))}};
      // This error has no code; it is identified by the `type` of an entry of `detail`.
      if (operation.idempotency == Idempotency::key) response["x-detail-types"] = {"idempotency_key_reused"};
    } else {
      response = refusal_object(status, names);
    }
  }
}

Json operation_object(const Operation& operation) {
  Json result = {{"operationId", operation.id}, {"summary", operation.summary}};
  result["tags"] = Json::array({area_of(operation)});
  if (operation.auth == Auth::none) result["security"] = Json::array();
  if (!operation.parameters.empty()) {
    Json parameters = Json::array();
    for (const Parameter& parameter : operation.parameters) parameters.push_back(parameter_object(parameter));
    result["parameters"] = std::move(parameters);
  }
  if (operation.request != nullptr) {
    result["requestBody"] = {{"required", true}, {"content", json_content(reference(refs, operation.request->name))}};
  }
  Json responses = Json::object();
  for (const Response& response : operation.responses) {
    responses[std::to_string(response.status)] = success_object(response);
  }
  if (std::ranges::find(validated, operation.id) != std::end(validated)) {
    responses["304"] = {{"description", reason_phrase(304)}, {"x-assumed", true}};
  }
  add_errors(operation, responses);
  result["responses"] = std::move(responses);
  result["x-command"] = fmt::format("ws {}", operation.command);
  result["x-retry-class"] = name(operation.retry);
  if (!operation.scope.empty()) result["x-required-scope"] = operation.scope;
  if (operation.role != Role::none) result["x-required-role"] = name(operation.role);
  return result;
}

/// The 422 as published: of an entry, only its place in `detail` is known.
void add_validation_error(Json& schemas) {
  Json step = Json::object();
  step["anyOf"] = Json::array({Json{{"type", "string"}}, Json{{"type", "integer"}}});
  Json properties = Json::object();
  properties["loc"] = {
      {"type", "array"}, {"items", std::move(step)}, {"description", "starts with body, path, query or header"}};
  properties["msg"] = {{"type", "string"}};
  properties["type"] = {{"type", "string"}, {"description", "as pydantic v2 names them: string_too_long"}};
  properties["input"] = {{"description", "what was given, cut to a sensible size"}};
  properties["ctx"] = {{"type", "object"}, {"description", "the limit that was broken"}};
  schemas["ValidationError"] = {{"type", "object"}, {"properties", std::move(properties)}, {"x-assumed", true}};
  Json members = Json::object();
  members["detail"] = {{"type", "array"}, {"items", reference(refs, "ValidationError")}};
  members["code"] = {{"type", "string"}, {"x-assumed", true}};
  schemas["HTTPValidationError"] = {
      {"type", "object"}, {"properties", std::move(members)}, {"required", Json::array({"detail"})}};
}

Json error_member(std::string_view name) {
  if (name == "current_content_revision" || name == "expected_content_revision") return {{"type", "integer"}};
  if (name == "asset_id") return {{"type", "string"}, {"format", "uuid"}};
  return {{"type", "string"}};
}

/// Also as a problem document (RFC 9457), which has three members more.
void add_error(Json& schemas) {
  Json properties = Json::object();
  const Json text = {{"type", "string"}};
  const Json coded = {
      {"type", "object"}, {"properties", {{"code", text}, {"message", text}}}, {"additionalProperties", true}};
  properties["detail"] = {{"anyOf", Json::array({text, coded})},
                          {"description", "one sentence; some services send an object with code and message"}};
  properties["code"] = {{"type", "string"}, {"description", "one word for programs"}};
  properties["request_id"] = {{"type", "string"}};
  for (const ErrorCode& error : error_codes) {
    for (std::string_view rest = error.members; !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      properties[std::string(name)] = error_member(name);
    }
  }
  schemas["Error"] = {{"type", "object"}, {"properties", properties}, {"x-assumed", true}};
  properties["type"] = text;
  properties["title"] = text;
  properties["status"] = {{"type", "integer"}};
  schemas["Problem"] = {{"type", "object"}, {"properties", std::move(properties)}, {"x-assumed", true}};
}

std::set<const Schema*> request_schemas() {
  std::set<const Schema*> sent;
  for (const Operation* operation : operations()) {
    if (operation->request == nullptr) continue;
    for (const Schema* schema : reached_from(*operation->request)) sent.insert(schema);
  }
  return sent;
}

Json components(As as) {
  const std::set<const Schema*> sent = request_schemas();
  const Use received = as == As::mocked ? Use::mock_response : Use::any_response;
  Json named = Json::object();
  for (const Schema* schema : schemas()) {
    const Use use = sent.contains(schema) ? Use::request : received;
    named[std::string(schema->name)] = json_schema(*schema, use, refs);
  }
  add_validation_error(named);
  add_error(named);
  Json result = {{"schemas", std::move(named)}};
  result["securitySchemes"]["ServiceApiKey"] = {
      {"type", "http"}, {"scheme", "bearer"}, {"description", "Authorization: Bearer <API_KEY>"}};
  return result;
}

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

Json openapi(std::string_view server_url, As as) {
  Json document = {{"openapi", "3.1.0"}};
  document["info"] = {{"title", "Workspace Service API"}, {"version", api_version}, {"description", description}};
  document["servers"] = Json::array({Json{{"url", server_url.empty() ? "/" : server_url}}});
  document["security"] = Json::array({Json{{"ServiceApiKey", Json::array()}}});
  Json tags = Json::array();
  for (const auto& [tag, text] : tag_descriptions) tags.push_back({{"name", tag}, {"description", text}});
  document["tags"] = std::move(tags);
  Json paths = Json::object();
  for (const Operation* operation : operations()) {
    paths[std::string(operation->path)][to_lower(name(operation->method))] = operation_object(*operation);
  }
  document["paths"] = std::move(paths);
  document["components"] = components(as);
  return document;
}

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
