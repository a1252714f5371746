// Source: API document v1, "Agents and agent events", "Agent", "Limits".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {
namespace {

constexpr Parameter list_parameters[] = {
    in_query(with_default(optional("include_revoked", boolean(), "revoked agents too"), "false")),
};
constexpr Parameter agent_parameters[] = {in_path("agent_id", uuid())};

constexpr std::string_view agent_object[] = {"agent"};
constexpr auto agent_fields = std::to_array<Field>({
    required("id", uuid()),
    with_default(optional("object", choice(agent_object)), "\"agent\""),
    required("workspace_id", uuid()),
    required("owner_user_id", uuid()),
    required("handle", string()),
    required("display_name", string()),
    nullable(required("avatar_url", string())),
    required("provider", string()),
    required("status", string(), "active, paused or revoked"),
    required("permissions", array_of(text_item), "read, comment, edit"),
    nullable(required("last_seen_at", date_time())),
    required("created_at", date_time()),
    required("updated_at", date_time()),
});
constexpr Schema agent = {.name = "Agent", .fields = agent_fields};
constexpr Field list_fields[] = {required("data", array_of(item_of<agent>))};
constexpr Schema agent_list = {.name = "AgentList", .fields = list_fields};
constexpr auto created_fields =
    joined({required("credential", free_object(), "with the agent's secret, shown once")}, agent_fields);
constexpr Schema created = {.name = "AgentCreated", .fields = created_fields};

constexpr Field rotated_fields[] = {
    required("agent_id", uuid()),
    secret("key", required("secret", string(), "shown once")),
    required("display_prefix", string()),
    required("scopes", array_of(text_item)),
    required("created_at", date_time()),
};
constexpr Schema rotated = {.name = "AgentCredential", .fields = rotated_fields};

// The first two are placeholders in the API document too. Since the true names are not known, the client checks none of
// the three, and the limit counts as assumed.
constexpr std::string_view provider_values[] = {"<agent_product_1>", "<agent_product_2>", "custom"};
constexpr Field create_fields[] = {
    required("handle", string(1, 64), "the name after the @"),
    required("display_name", string(1, 100)),
    nullable(optional("avatar_url", string_at_most(500))),
    with_default(optional("provider", assumed(choice(provider_values))), "\"custom\""),
    optional("permissions", array_of(agent_permission_item, 1, 3)),
};
constexpr Schema create_request = {.name = "AgentCreate", .fields = create_fields};

constexpr std::string_view status_values[] = {"active", "paused", "revoked"};
constexpr Field update_fields[] = {
    nullable(optional("display_name", string(1, 100))),
    nullable(optional("avatar_url", string_at_most(500))),
    nullable(optional("status", choice(status_values))),
    nullable(optional("permissions", array_of(agent_permission_item, 1, 3))),
};
constexpr Schema update_request = {
    .name = "AgentUpdate", .fields = update_fields, .help = "null or missing: unchanged"};

}  // namespace

constexpr Operation agent_table[] = {
    {.id = "agents.list",
     .path = "/v1/agents",
     .summary = "List agents",
     .parameters = list_parameters,
     .responses = {{.schema = &agent_list}},
     .scope = "agent_events:read",
     .role = Role::viewer,
     .command = "agents list"},
    {.id = "agents.create",
     .method = Method::post,
     .path = "/v1/agents",
     .summary = "Create an agent",
     .request = &create_request,
     .responses = {{.status = 201, .schema = &created}},
     .scope = "workspaces:write",
     .role = Role::editor,
     .retry = RetryClass::unsafe,
     .command = "agents create",
     .arguments = {{"HANDLE", "handle"}},
     .errors = {"handle_taken"}},
    // Update and rotate are for the owner of the agent or an admin; a role alone does not grant them.
    {.id = "agents.update",
     .method = Method::patch,
     .path = "/v1/agents/{agent_id}",
     .summary = "Change an agent's name, picture, status or permissions",
     .parameters = agent_parameters,
     .request = &update_request,
     .responses = {{.schema = &agent}},
     .scope = "workspaces:write",
     .retry = RetryClass::repeatable,
     .command = "agents update",
     .arguments = {{"AGENT", "agent_id"}}},
    {.id = "agents.rotate",
     .method = Method::post,
     .path = "/v1/agents/{agent_id}/credentials:rotate",
     .summary = "Give an agent a new secret",
     .parameters = agent_parameters,
     .responses = {{.schema = &rotated}},
     .scope = "workspaces:write",
     .retry = RetryClass::unsafe,
     .command = "agents rotate",
     .arguments = {{"AGENT", "agent_id"}},
     .again = "only the newest secret is valid"},
};
static_assert(well_formed(agent_table));
constinit const Area agent_operations = {"Agents and agent events", agent_table};

}  // namespace ws::contract
