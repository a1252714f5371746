#include <nlohmann/json.hpp>

#include "server-mock/services/files/assets.hpp"
#include "server-mock/services/files/organize_runs.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/service_tables.hpp"

namespace ws::mock {
namespace {

/// The Project or Page to create the documents in; the caller may change it. Without one: beside the asset.
ApiResult<std::string> find_target(World& world, const ServiceCall& call, const Asset& asset) {
  const std::string id = id_of(call.body, "target_root_node_id");
  if (id.empty()) return std::string();
  WS_API_LET(const VisibleNode target, find_visible_node(world, call, id));
  if (target.node.workspace_id != asset.workspace_id) return not_found("node");
  if (target.node.kind != "page" && target.node.kind != "project") {
    return invalid("body", "target_root_node_id", "value_error", "Only a Project or a Page can hold documents", id);
  }
  if (target.access < AccessLevel::edit) return forbidden("You may not change the target");
  return target.node.id;
}

ServiceResult organize_file(World& world, const ServiceCall& call) {
  WS_API_LET(const VisibleAsset seen, find_visible_asset(world, call, id_of(call.parameters, "asset_id")));
  WS_API_TRY(require_role(call, seen.role));
  WS_API_LET(const std::string target, find_target(world, call, seen.asset));
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  const OrganizeRun run = {.id = world.ids.uuid("operation"),
                           .asset_id = seen.asset.id,
                           .workspace_id = seen.asset.workspace_id,
                           .target_node_id = target,
                           .created_by_user_id = call.caller.owner_user_id,
                           .created_by_agent_id = call.caller.agent_id,
                           .created_at = world.now(),
                           .updated_at = world.now()};
  WS_API_TRY(insert_run(world, run, text_of(call.body, "instruction")));
  WS_API_TRY(work.commit());
  return Answer{.status = 202, .body = to_json(run)};
}

ServiceResult get_file_operation(World& world, const ServiceCall& call) {
  WS_API_TRY(advance_due_runs(world));
  WS_API_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_API_LET(std::optional<OrganizeRun> run, find_run(world, id_of(call.parameters, "operation_id")));
  if (!run) return not_found("file operation");
  WS_API_LET(const contract::Role role, role_in(world, call.caller, run->workspace_id));
  if (role == contract::Role::none) return not_found("file operation");
  WS_API_TRY(advance_run(world, *run));
  WS_API_TRY(work.commit());
  Answer answer = {.body = to_json(*run)};
  // Not a member of the published resource.
  if (!run->message.empty()) answer.headers.emplace_back("X-Mock-Message", run->message);
  return answer;
}

}  // namespace

ServiceTable organize_services() {
  static constexpr ServiceEntry entries[] = {
      {"files.organize", organize_file},
      {"files.operation", get_file_operation},
  };
  return entries;
}

}  // namespace ws::mock
