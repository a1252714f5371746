#include "api-client/contract/openapi.hpp"

#include <functional>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"

using namespace ws::contract;
using ws::Json;

namespace {

/// Calls `visit` for every object in a document.
void for_each_object(const Json& value, const std::function<void(const Json&)>& visit) {
  if (value.is_object()) visit(value);
  if (value.is_structured()) {
    for (const Json& member : value) for_each_object(member, visit);
  }
}

void check_references(const Json& document) {
  for_each_object(document, [&](const Json& object) {
    if (!object.contains("$ref")) return;
    const std::string target = object["$ref"].get<std::string>();
    CAPTURE(target);
    REQUIRE(target.starts_with("#/"));
    CHECK(document.contains(Json::json_pointer(target.substr(1))));
  });
}

const Json& component(const Json& document, const std::string& name) { return document["components"]["schemas"][name]; }

}  // namespace

TEST_CASE("openapi: has each operation once, under its id", "[contract]") {
  const Json document = openapi("");
  CHECK(document["openapi"] == "3.1.0");
  CHECK(document["info"]["version"] == "1.0.0");
  CHECK(document["servers"][0]["url"] == "/");
  std::set<std::string> ids;
  for (const auto& [path, item] : document["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      const std::string id = operation["operationId"];
      CAPTURE(id);
      CHECK(ids.insert(id).second);
      const Operation* entry = find_operation(id);
      REQUIRE(entry != nullptr);
      CHECK(entry->path == path);
      CHECK(operation["x-command"] == "ws " + std::string(entry->command));
      CHECK(operation["x-retry-class"] == name(entry->retry));
      CHECK(operation.value("x-required-scope", "") == entry->scope);
      CHECK(operation.value("x-required-role", "none") == name(entry->role));
      CHECK(operation.value("parameters", Json::array()).size() == entry->parameters.size());
      CHECK(operation.contains("requestBody") == (entry->request != nullptr));
      for (const Response& response : entry->responses) {
        CHECK(operation["responses"].contains(std::to_string(response.status)));
      }
      const bool takes_input = !entry->parameters.empty() || entry->request != nullptr;
      CHECK(operation["responses"].contains("422") == takes_input);
      CHECK(operation["responses"].contains("401") == (entry->auth == Auth::key));
    }
  }
  CHECK(ids.size() == operations().size());
}

TEST_CASE("openapi: every reference leads somewhere, and every schema is there", "[contract]") {
  const Json document = openapi("http://localhost:1");
  CHECK(document["servers"][0]["url"] == "http://localhost:1");
  check_references(document);
  for (const Schema* schema : schemas()) {
    CHECK(document["components"]["schemas"].contains(std::string(schema->name)));
  }
}

TEST_CASE("openapi: the two device operations need no key, all others do", "[contract]") {
  const Json document = openapi("");
  CHECK(document["security"] == Json::array({Json{{"ServiceApiKey", Json::array()}}}));
  CHECK(document["components"]["securitySchemes"]["ServiceApiKey"]["scheme"] == "bearer");
  const Json& start = document["paths"]["/v1/auth/device-authorizations"]["post"];
  CHECK(start["security"] == Json::array());
  CHECK_FALSE(document["paths"]["/v1/me"]["get"].contains("security"));
}

TEST_CASE("openapi: limits, defaults and null stand as JSON Schema has them", "[contract]") {
  const Json document = openapi("");
  const Json& claim = component(document, "AgentEventClaimRequest")["properties"];
  CHECK(claim["lease_seconds"]["minimum"] == 30);
  CHECK(claim["lease_seconds"]["maximum"] == 900);
  CHECK(claim["lease_seconds"]["default"] == 300);
  CHECK(claim["worker_id"]["maxLength"] == 120);
  const Json& update = component(document, "AgentUpdate")["properties"];
  CHECK(update["avatar_url"]["type"] == Json::array({"string", "null"}));
  CHECK(update["status"]["anyOf"][1] == Json{{"type", "null"}});
  CHECK(update["permissions"]["maxItems"] == 3);
  const Json& event = component(document, "AgentEventClaim")["properties"]["event"];
  CHECK(event["anyOf"][0]["$ref"] == "#/components/schemas/AgentEvent");
}

TEST_CASE("openapi: what only we decided says so, and is never promised of an answer", "[contract]") {
  const Json document = openapi("");
  const Json& item = component(document, "Document");
  CHECK(item["x-assumed"] == true);
  CHECK_FALSE(item.contains("required"));
  CHECK(item["properties"]["title"]["x-assumed"] == true);
  // Of a request it is what the mock asks for.
  CHECK(component(document, "DocumentCreate")["required"] == Json::array({"title", "content"}));
  const Json& question = component(document, "QuestionCreate")["properties"];
  CHECK_FALSE(question["prompt"].contains("x-assumed"));
  CHECK(question["prompt"]["allOf"][0]["x-assumed"] == true);
  CHECK(question["conversation_id"]["x-assumed"] == true);
  CHECK(component(document, "Asset")["required"].size() == 12);
  CHECK_FALSE(component(document, "Asset").contains("x-assumed"));
  CHECK(component(document, "HTTPValidationError")["required"] == Json::array({"detail"}));
}

TEST_CASE("operation_schema: stands by itself for each operation", "[contract]") {
  for (const Operation* operation : operations()) {
    CAPTURE(operation->id);
    const Json schema = operation_schema(*operation);
    CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
    CHECK(schema["title"] == operation->id);
    check_references(schema);
    CHECK(schema["properties"].contains("body") == (operation->request != nullptr));
    CHECK(schema["properties"].contains("parameters") == !operation->parameters.empty());
  }
}

TEST_CASE("openapi: tells what is served besides JSON, and what a member's being required rests on", "[contract]") {
  const Json document = openapi("");
  const auto responses = [&](const char* path, const char* method) -> const Json& {
    return document.at("paths").at(path).at(method).at("responses");
  };
  CHECK(responses("/v1/files/{asset_id}/content", "get").at("200").at("content").contains("*/*"));
  CHECK(responses("/v1/files/{asset_id}/content", "get").contains("304"));
  CHECK(responses("/v1/documents/{document_id}", "get").contains("304"));
  CHECK_FALSE(responses("/v1/documents/{document_id}", "put").contains("304"));
  CHECK(responses("/v1/documents/{document_id}/shares", "post").at("409").at("x-codes") == Json{"archived"});
  const Json& schemas = document.at("components").at("schemas");
  CHECK(schemas.at("QuestionLinks").at("properties").contains("conversation"));
  CHECK(schemas.at("DocumentCreate").at("x-assumed-required") == Json{"title", "content"});
  CHECK_FALSE(schemas.at("Agent").contains("x-assumed-required"));
}

TEST_CASE("openapi: tells every answer that a service may choose", "[contract]") {
  const Json document = openapi("");
  const auto responses = [&](const char* path, const char* method) -> const Json& {
    return document.at("paths").at(path).at(method).at("responses");
  };
  const Json& update = responses("/v1/documents/{document_id}", "put");
  CHECK(update.at("409").at("x-codes") == Json{"revision_conflict", "archived"});
  CHECK(update.at("412").at("x-codes") == Json{"revision_conflict", "precondition_failed"});
  CHECK(responses("/v1/sync/conflicts/{conflict_id}:resolve", "post").contains("412"));
  CHECK_FALSE(responses("/v1/sync/commit", "post").contains("412"));
  const Json& token = responses("/v1/auth/device-token", "post");
  CHECK(token.at("428").at("x-codes") == Json{"authorization_pending", "slow_down"});
  CHECK(token.at("202").at("x-assumed") == true);
  for (const char* type : {"application/json", "application/problem+json", "text/html"}) {
    CAPTURE(type);
    CHECK(update.at("404").at("content").contains(type));
  }
  CHECK(update.at("422").at("content").size() == 1);
  // Assumed members of an answer may also be null.
  CHECK(component(document, "Document")["properties"]["title"]["type"] == Json{"string", "null"});
  CHECK(component(document, "Agent")["properties"]["display_name"]["type"] == "string");
  CHECK(component(document, "DocumentCreate")["properties"]["title"]["type"] == "string");
}
