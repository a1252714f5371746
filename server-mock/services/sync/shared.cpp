#include "server-mock/services/sync/shared.hpp"

#include <nlohmann/json.hpp>

#include "server-mock/store/query.hpp"

namespace ws::mock {

using contract::Role;

ApiResult<VisibleSource> find_visible_source(World& world, const ServiceCall& call, std::string_view source_id) {
  WS_API_LET(std::optional<Source> source, find_source(world, source_id));
  if (!source) return not_found("sync source");
  WS_API_LET(const Role role, role_in(world, call.caller, source->workspace_id));
  WS_API_LET(std::optional<Node> root, find_node(world, source->root_node_id));
  if (!root) return not_found("sync source");
  // The creator of the source sees it, as does the creator of its root Page.
  const Node as_made = {.project_id = root->project_id,
                        .created_by_user_id = source->created_by_user_id,
                        .created_by_agent_id = source->created_by_agent_id};
  if (access_to(call.caller, role, *root) == AccessLevel::none &&
      access_to(call.caller, role, as_made) == AccessLevel::none) {
    return not_found("sync source");
  }
  WS_API_TRY(require_role(call, role));
  const bool opens_all = !root->project_id.empty() || is_admin(call.caller, role);
  return VisibleSource{.source = std::move(*source), .root = std::move(*root), .role = role, .opens_all = opens_all};
}

Result<AccessLevel> access_in(World& world, const Caller& caller, const VisibleSource& seen, const Document& document) {
  if (seen.opens_all) return seen.role >= Role::editor ? AccessLevel::edit : AccessLevel::read;
  // A deleted document is reported as a tombstone to those who could see it.
  Document as_active = document;
  as_active.archived = false;
  return access_to(world, caller, seen.role, as_active);
}

std::string actor_key(const Caller& caller) {
  return caller.agent_id.empty() ? "user:" + caller.owner_user_id : "agent:" + caller.agent_id;
}

ApiResult<Plan> find_plan(World& world, const ServiceCall& call, std::string_view plan_id, std::string_view source_id) {
  WS_API_LET(std::optional<Plan> plan,
             read_row(world,
                      read_as<Plan>,
                      "select id, source_id, client_id, base_revision, expires_at, commit_body "
                      "from sync_plans where id = ? and source_id = ? and actor = ?",
                      plan_id,
                      source_id,
                      actor_key(call.caller)));
  if (!plan) return not_found("plan");
  return std::move(*plan);
}

}  // namespace ws::mock
