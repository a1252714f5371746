// Source: API document v1, "Workspaces, projects, nodes"; bodies and shapes from `decisions.md`, "Resource shapes".
#include "api-client/contract/operations/shared.hpp"
#include "api-client/contract/operations/tables.hpp"
#include "api-client/contract/operations/well_formed.hpp"

namespace ws::contract {

namespace {

constexpr std::string_view area = "Workspaces, projects, nodes";

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
constexpr Type workspace_item = object(workspace);
constexpr auto list_fields = all_assumed({required("data", array_of(workspace_item)), next_cursor});
constexpr Schema workspace_list = {.name = "WorkspaceList", .fields = list_fields, .source = Source::assumed};
constexpr Response list_responses[] = {{.schema = &workspace_list}};
constexpr Response create_responses[] = {{.status = 201, .schema = &workspace}};

constexpr auto create_fields = all_assumed({required("name", string(1, 200))});
constexpr Schema workspace_create = {.name = "WorkspaceCreate", .fields = create_fields, .source = Source::assumed};

constexpr auto project_create_fields = all_assumed({
    required("title", string(1, 300)),
    optional("workspace_id", uuid(), "without it the one that the identity names"),
});
constexpr Schema project_create = {.name = "ProjectCreate", .fields = project_create_fields, .source = Source::assumed};
constexpr std::string_view project_object[] = {"project"};
constexpr auto project_fields = all_assumed({
    required("id", uuid()),
    with_default(optional("object", choice(project_object)), "\"project\""),
    required("workspace_id", uuid()),
    required("node_id", uuid(), "its node, at the Workspace root"),
    required("title", string()),
    required("created_at", date_time()),
    required("updated_at", date_time()),
    links,
});
constexpr Schema project = {.name = "Project", .fields = project_fields, .source = Source::assumed};
constexpr Response project_responses[] = {{.status = 201, .schema = &project}};

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
constexpr Response move_responses[] = {{.schema = &node}};

constexpr Argument name_argument[] = {{"NAME", "name"}};
constexpr Argument title_argument[] = {{"TITLE", "title"}};
constexpr Argument node_argument[] = {{"NODE", "node_id"}};
constexpr std::string_view list_errors[] = {"agent_paused"};
constexpr std::string_view move_errors[] = {"node_cycle", "project_at_root"};

}  // namespace

constexpr Operation workspace_table[] = {
    {.id = "workspaces.list",
     .method = Method::get,
     .path = "/v1/workspaces",
     .summary = "List workspaces",
     .area = area,
     .responses = list_responses,
     .command = "workspaces list",
     .errors = list_errors},
    {.id = "workspaces.create",
     .method = Method::post,
     .path = "/v1/workspaces",
     .summary = "Create a workspace",
     .area = area,
     .parameters = create_parameters,
     .request = &workspace_create,
     .responses = create_responses,
     .scope = "workspaces:write",
     .idempotency = Idempotency::key,
     .retry = RetryClass::keyed,
     .command = "workspaces create",
     .arguments = name_argument},
    {.id = "projects.create",
     .method = Method::post,
     .path = "/v1/projects",
     .summary = "Create a project",
     .area = area,
     .parameters = create_parameters,
     .request = &project_create,
     .responses = project_responses,
     .scope = "workspaces:write",
     .role = Role::editor,
     .idempotency = Idempotency::key,
     .retry = RetryClass::keyed,
     .command = "projects create",
     .arguments = title_argument},
    {.id = "nodes.move",
     .method = Method::post,
     .path = "/v1/nodes/{node_id}:move",
     .summary = "Move a tree node",
     .area = area,
     .parameters = move_parameters,
     .request = &move_request,
     .responses = move_responses,
     .scope = "documents:write",
     .role = Role::editor,
     .idempotency = Idempotency::key,
     .retry = RetryClass::keyed,
     .command = "nodes move",
     .arguments = node_argument,
     .errors = move_errors},
};
static_assert(well_formed(workspace_table));
constinit const std::span<const Operation> workspace_operations = workspace_table;

}  // namespace ws::contract
