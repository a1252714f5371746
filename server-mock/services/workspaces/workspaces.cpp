#include <algorithm>

#include <nlohmann/json.hpp>

#include "api-client/contract/schema.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/resources.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

using contract::Role;

ServiceResult list_workspaces(World& world, const ServiceCall& call) {
  WS_API_LET(
      const sqlite::CachedStatement rows,
      world.database.cached("select w.id, w.name, m.role, w.created_at, w.updated_at from members m join workspaces w "
                            "on w.id = m.workspace_id where m.user_id = ?1 and (?2 = '' or w.id = ?2) order by w.id"));
  rows->bind_all(call.caller.owner_user_id, bound_workspace(call.caller));
  Json data = Json::array();
  while (true) {
    WS_API_LET(const bool found, rows->step());
    if (!found) break;
    const Role role = std::min(contract::find_role(rows->text(2)).value_or(Role::none), call.caller.ceiling);
    data.push_back(to_json(WorkspaceRow{.id = rows->string(0),
                                        .name = rows->string(1),
                                        .role = std::string(contract::name(role)),
                                        .created_at = rows->integer(3),
                                        .updated_at = rows->integer(4)}));
  }
  return Answer{.body = Json{{"data", std::move(data)}, {"next_cursor", nullptr}}};
}

ServiceResult create_workspace(World& world, const ServiceCall& call) {
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

}  // namespace

ServiceTable workspace_services() {
  static constexpr ServiceEntry entries[] = {
      {"workspaces.list", list_workspaces},
      {"workspaces.create", create_workspace},
      {"projects.create", create_project},
  };
  return entries;
}

}  // namespace ws::mock
