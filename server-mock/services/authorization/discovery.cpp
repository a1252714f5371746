#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "server-mock/services/shared/service_tables.hpp"

namespace ws::mock {
namespace {

Json describe(const contract::Operation& operation) {
  return {{"id", operation.id},
          {"method", contract::name(operation.method)},
          {"path", operation.path},
          {"summary", operation.summary},
          {"scope", operation.scope.empty() ? Json(nullptr) : Json(operation.scope)},
          {"idempotent", operation.idempotency == contract::Idempotency::key}};
}

/// Limits that belong to no single field; those of fields are in the OpenAPI document.
Json limits() {
  return {{"json_body_bytes", 16 << 20},
          {"document_content_bytes", 1 << 20},
          {"file_bytes", 104'857'600},
          {"page_items", 100},
          {"scopes_per_authorization", contract::max_scopes_per_authorization}};
}

ServiceResult get_discovery(World& /*world*/, const ServiceCall& call) {
  Json operations = Json::array();
  for (const contract::Operation* operation : contract::operations()) operations.push_back(describe(*operation));
  return Answer{.body = Json{{"object", "discovery"},
                             {"version", contract::api_version},
                             {"operations", std::move(operations)},
                             {"limits", limits()},
                             {"openapi_url", call.base_url + "/openapi.json"},
                             {"skill_url", call.base_url + "/skill/service-operate-workspace"},
                             {"links", {{"self", "/v1"}, {"me", "/v1/me"}}}}};
}

}  // namespace

ServiceTable discovery_services() {
  static constexpr ServiceEntry entries[] = {
      {"discovery.get", get_discovery},
  };
  return entries;
}

}  // namespace ws::mock
