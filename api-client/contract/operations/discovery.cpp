// Source: API document v1, "Discovery"; the shape from `decisions.md`, "Resource shapes".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {
namespace {

constexpr auto operation_fields = all_assumed({
    required("id", string()),
    required("method", string()),
    required("path", string()),
    required("summary", string()),
    nullable(required("scope", string(), "null: any valid key")),
    required("idempotent", boolean(), "takes an Idempotency-Key"),
});
constexpr Schema operation = {.name = "DiscoveryOperation", .fields = operation_fields, .source = Source::assumed};
constexpr std::string_view object_value[] = {"discovery"};
constexpr auto discovery_fields = all_assumed({
    with_default(optional("object", choice(object_value)), "\"discovery\""),
    required("version", string()),
    required("operations", array_of(item_of<operation>)),
    required("limits", free_object()),
    required("openapi_url", string(), "absolute"),
    required("skill_url", string(), "absolute: where the operating skill's files are"),
    links,
});
constexpr Schema discovery = {.name = "Discovery", .fields = discovery_fields, .source = Source::assumed};

}  // namespace

constexpr Operation discovery_table[] = {
    {.id = "discovery.get",
     .path = "/v1",
     .summary = "Discover what the service can do",
     .responses = {{.schema = &discovery}},
     .command = "discover"},
};
static_assert(well_formed(discovery_table));
constinit const Area discovery_operations = {"Discovery", discovery_table};

}  // namespace ws::contract
