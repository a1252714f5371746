#include <algorithm>

#include <nlohmann/json.hpp>

#include "api-client/contract/schema.hpp"
#include "server-mock/services/documents/document_changes.hpp"
#include "server-mock/services/files/files.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

using contract::Role;

/// The one Workspace that the list is bound to; empty: it shows all of the owner's.
std::string_view listed_workspace(const World& world, const Caller& caller) {
  return world.assumptions.is("workspace_create", "visible") ? std::string_view() : bound_workspace(caller);
}

ServiceResult list_workspaces(World& world, const ServiceCall& call) {
  const auto read = [&call](const sqlite::Statement& row) {
    auto workspace = read_as<WorkspaceRow>(row);
    workspace.role =
        contract::name(std::min(contract::find_role(workspace.role).value_or(Role::none), call.caller.ceiling));
    return to_json(workspace);
  };
  WS_API_LET(std::vector<Json> data,
             read_rows(world,
                       read,
                       "select w.id, w.name, m.role, w.created_at, w.updated_at from members m join workspaces w "
                       "on w.id = m.workspace_id where m.user_id = ?1 and (?2 = '' or w.id = ?2) order by w.id",
                       call.caller.owner_user_id,
                       listed_workspace(world, call.caller)));
  return Answer{.body = Json{{"data", std::move(data)}, {"next_cursor", nullptr}}};
}

ServiceResult create_workspace(World& world, const ServiceCall& call) {
  if (!listed_workspace(world, call.caller).empty()) {
    return forbidden(
        "The key is for one Workspace, which could not see another: make it with a key of the audience user (in a "
        "device login choose all Workspaces)");
  }
  const WorkspaceRow made = {.id = world.ids.uuid("workspace"),
                             .name = std::string(text_of(call.body, "name")),
                             .role = "owner",
                             .created_at = world.now(),
                             .updated_at = world.now()};
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_TRY(put(world,
                 "insert into workspaces (id, name, created_at, updated_at) values (?, ?, ?, ?)",
                 made.id,
                 made.name,
                 made.created_at,
                 made.updated_at));
  WS_API_TRY(put(world,
                 "insert into members (workspace_id, user_id, role, created_at) values (?, ?, 'owner', ?)",
                 made.id,
                 call.caller.owner_user_id,
                 made.created_at));
  WS_API_TRY(work.commit());
  return Answer{.status = 201, .body = to_json(made)};
}

ServiceResult create_project(World& world, const ServiceCall& call) {
  std::string workspace_id = id_of(call.body, "workspace_id");
  if (workspace_id.empty()) workspace_id = call.caller.workspace_id;
  WS_API_LET(const Role role, role_in(world, call.caller, workspace_id));
  if (role == Role::none) return not_found("Workspace");
  WS_API_TRY(require_role(call, role));

  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  const std::string id = world.ids.uuid("project");
  Node node = {.id = world.ids.uuid("node"),
               .workspace_id = workspace_id,
               .kind = "project",
               .project_id = id,
               .title = std::string(text_of(call.body, "title")),
               .created_by_user_id = call.caller.owner_user_id,
               .created_by_agent_id = call.caller.agent_id};
  WS_API_TRY(insert_node(world, node));
  WS_API_TRY(put(world,
                 "insert into projects (id, workspace_id, node_id, title, created_at, updated_at) "
                 "values (?, ?, ?, ?, ?, ?)",
                 id,
                 workspace_id,
                 node.id,
                 node.title,
                 world.now(),
                 world.now()));
  WS_API_TRY(work.commit());
  return Answer{.status = 201,
                .body = Json{{"id", id},
                             {"object", "project"},
                             {"workspace_id", workspace_id},
                             {"node_id", node.id},
                             {"title", node.title},
                             {"created_at", rfc3339(world.now())},
                             {"updated_at", rfc3339(world.now())},
                             {"links", {{"node", "/v1/nodes/" + node.id + ":move"}}}}};
}

/// The new parent (empty id: the Workspace root). Checks that the caller may see it, that it is in the same Workspace
/// and can hold nodes.
ApiResult<Node> find_new_parent(World& world, const ServiceCall& call, const Node& moved) {
  const std::string parent_id = id_of(call.body, "parent_node_id");
  if (parent_id.empty()) return Node{.workspace_id = moved.workspace_id};
  WS_API_LET(VisibleNode parent, find_visible_node(world, call, parent_id));
  if (parent.node.workspace_id != moved.workspace_id) return not_found("node");
  if (parent.node.kind != "page" && parent.node.kind != "project") {
    return invalid("body", "parent_node_id", "value_error", "Only a Project or a Page can hold nodes", parent_id);
  }
  return std::move(parent.node);
}

/// 409 if the tree forbids the move.
ApiResult<void> require_movable(World& world, const Node& moved, const Node& parent) {
  if (parent.id.empty()) return {};
  if (moved.kind == "project") return conflict("project_at_root", "A Project stays at the Workspace root");
  WS_API_LET(const std::vector<Node> line, node_and_above(world, parent.id));
  if (std::ranges::find(line, moved.id, &Node::id) != line.end()) {
    return conflict("node_cycle", "A node cannot move below itself");
  }
  return {};
}

/// The position among the new siblings: before `before_node_id`, or the last.
ApiResult<std::int64_t> find_position(World& world, const ServiceCall& call, const Node& moved, const Node& parent) {
  const std::string before_id = id_of(call.body, "before_node_id");
  if (before_id.empty() || before_id == moved.id) {
    if (before_id == moved.id && moved.parent_id == parent.id) return moved.position;
    WS_API_LET(const std::int64_t last, next_position(world, parent.workspace_id, parent.id));
    return last;
  }
  WS_API_LET(const VisibleNode before, find_visible_node(world, call, before_id));
  if (before.node.workspace_id != parent.workspace_id || before.node.parent_id != parent.id) {
    return invalid("body", "before_node_id", "value_error", "The node is not a child of that parent", before_id);
  }
  WS_API_TRY(put(world,
                 "update nodes set position = position + 1 where workspace_id = ? and parent_id = ? "
                 "and position >= ?",
                 parent.workspace_id,
                 parent.id,
                 before.node.position));
  return before.node.position;
}

Result<void> set_place(World& world, const Node& node) {
  WS_TRY(put(world,
             "update nodes set parent_id = ?, position = ?, updated_at = ? where id = ?",
             node.parent_id,
             node.position,
             world.now(),
             node.id));
  return put(world,
             "with recursive below (id, workspace_id) as (  select id, workspace_id from nodes where id = ?1"
             "  union all select n.id, n.workspace_id from nodes n join below b"
             "    on n.workspace_id = b.workspace_id and n.parent_id = b.id)"
             "update nodes set project_id = ?2 where id in (select id from below)",
             node.id,
             node.project_id);
}

ServiceResult move_node(World& world, const ServiceCall& call) {
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(VisibleNode seen, find_visible_node(world, call, id_of(call.parameters, "node_id")));
  WS_API_TRY(require_role(call, seen.role));
  if (seen.access < AccessLevel::edit) return forbidden("The document was shared with you, but not for editing");
  Node node = std::move(seen.node);
  WS_API_LET(const Node parent, find_new_parent(world, call, node));
  const bool elsewhere = node.parent_id != parent.id;
  WS_API_LET(node.position, find_position(world, call, node, parent));
  WS_API_TRY(require_movable(world, node, parent));
  node.parent_id = parent.id;
  if (node.kind != "project") node.project_id = parent.project_id;
  WS_API_TRY(set_place(world, node));
  if (elsewhere) {
    WS_API_LET(DocumentChanges changes, DocumentChanges::by(world, call.caller));
    WS_API_LET(const std::vector<std::string> documents, documents_below(world, node.id));
    for (const std::string& id : documents) WS_API_TRY(changes.moved_with_parent(id));
  }
  WS_API_TRY(work.commit());
  WS_API_LET(const std::optional<std::string> document_id, document_on(world, node.id));
  WS_API_LET(const std::optional<std::string> asset_id, asset_on(world, node.id));
  return Answer{.body = to_json(node, document_id.value_or(""), asset_id.value_or(""))};
}

}  // namespace

ServiceTable workspace_services() {
  static constexpr ServiceEntry entries[] = {
      {"workspaces.list", list_workspaces},
      {"workspaces.create", create_workspace},
      {"projects.create", create_project},
      {"nodes.move", move_node},
  };
  return entries;
}

}  // namespace ws::mock
