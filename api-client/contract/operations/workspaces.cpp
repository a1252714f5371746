// Source: API document v1, "Workspaces, projects, nodes"; bodies and shapes from `decisions.md`, "Resource shapes".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {
namespace {

constexpr Parameter create_parameters[] = {idempotency_key};
constexpr Parameter move_parameters[] = {in_path("node_id", uuid()), idempotency_key};

constexpr std::string_view workspace_object[] = {"workspace"};
constexpr auto workspace_fields = all_assumed({
    required("id", uuid()),
    with_default(optional("object", choice(workspace_object)), "\"workspace\""),
    required("name", string()),
    required("role", string(), "the caller's: owner, admin, editor, commenter or viewer"),
    required("created_at", date_time()),
    required("updated_at", date_time()),
    links,
});
constexpr Schema workspace = {.name = "Workspace", .fields = workspace_fields, .source = Source::assumed};
constexpr auto list_fields = all_assumed({required("data", array_of(item_of<workspace>)), next_cursor});
constexpr Schema workspace_list = {.name = "WorkspaceList", .fields = list_fields, .source = Source::assumed};

constexpr auto create_fields = all_assumed({required("name", string(1, 200))});
constexpr Schema workspace_create = {.name = "WorkspaceCreate", .fields = create_fields, .source = Source::assumed};

constexpr auto project_create_fields = all_assumed({
    required("title", string(1, 300)),
    optional("workspace_id", uuid(), "if missing, the Workspace of `ws whoami`"),
});
constexpr Schema project_create = {.name = "ProjectCreate", .fields = project_create_fields, .source = Source::assumed};
constexpr std::string_view project_object[] = {"project"};
constexpr auto project_fields = all_assumed({
    required("id", uuid()),
    with_default(optional("object", choice(project_object)), "\"project\""),
    required("workspace_id", uuid()),
    required("node_id", uuid(), "the node of the Project, at the Workspace root"),
    required("title", string()),
    required("created_at", date_time()),
    required("updated_at", date_time()),
    links,
});
constexpr Schema project = {.name = "Project", .fields = project_fields, .source = Source::assumed};

constexpr auto move_fields = all_assumed({
    nullable(required("parent_node_id", uuid(), "null: the Workspace root")),
    optional("before_node_id", uuid(), "the sibling to place it before"),
});
constexpr Schema move_request = {.name = "NodeMove", .fields = move_fields, .source = Source::assumed};
constexpr std::string_view node_object[] = {"node"};
constexpr auto node_fields = all_assumed({
    required("id", uuid()),
    with_default(optional("object", choice(node_object)), "\"node\""),
    required("kind", string(), "project, page, document or asset"),
    required("title", string()),
    nullable(required("parent_node_id", uuid())),
    required("position", integer()),
    nullable(required("document_id", uuid())),
    nullable(required("asset_id", uuid())),
    links,
});
constexpr Schema node = {.name = "Node", .fields = node_fields, .source = Source::assumed};

}  // namespace

constexpr Operation workspace_table[] = {
    {.id = "workspaces.list",
     .path = "/v1/workspaces",
     .summary = "List workspaces",
     .responses = {{.schema = &workspace_list}},
     .command = "workspaces list",
     .errors = {"agent_paused"}},
    {.id = "workspaces.create",
     .method = Method::post,
     .path = "/v1/workspaces",
     .summary = "Create a workspace",
     .parameters = create_parameters,
     .request = &workspace_create,
     .responses = {{.status = 201, .schema = &workspace}},
     .scope = "workspaces:write",
     .idempotency = Idempotency::key,
     .retry = RetryClass::keyed,
     .command = "workspaces create",
     .arguments = {{"NAME", "name"}}},
    {.id = "projects.create",
     .method = Method::post,
     .path = "/v1/projects",
     .summary = "Create a project",
     .parameters = create_parameters,
     .request = &project_create,
     .responses = {{.status = 201, .schema = &project}},
     .scope = "workspaces:write",
     .role = Role::editor,
     .idempotency = Idempotency::key,
     .retry = RetryClass::keyed,
     .command = "projects create",
     .arguments = {{"TITLE", "title"}}},
    {.id = "nodes.move",
     .method = Method::post,
     .path = "/v1/nodes/{node_id}:move",
     .summary = "Move a tree node",
     .parameters = move_parameters,
     .request = &move_request,
     .responses = {{.schema = &node}},
     .scope = "documents:write",
     .role = Role::editor,
     .idempotency = Idempotency::key,
     .retry = RetryClass::keyed,
     .command = "nodes move",
     .arguments = {{"NODE", "node_id"}},
     .errors = {"node_cycle", "project_at_root"}},
};
static_assert(well_formed(workspace_table));
constinit const Area workspace_operations = {"Workspaces, projects, nodes", workspace_table};

}  // namespace ws::contract
