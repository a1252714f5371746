#include "server-mock/services/sync/shared.hpp"

#include <nlohmann/json.hpp>

namespace ws::mock {

using contract::Role;

Served<SeenSource> see_source(World& world, const ServiceCall& call, std::string_view source_id) {
  WS_SERVE_LET(std::optional<Source> source, find_source(world, source_id));
  if (!source) return not_found("sync source");
  WS_SERVE_LET(const Role role, role_in(world, call.caller, source->workspace_id));
  WS_SERVE_LET(std::optional<Node> root, find_node(world, source->root_node_id));
  if (!root) return not_found("sync source");
  // Whoever made the source sees it, as whoever made its Page does.
  const Node as_made = {.project_id = root->project_id,
                        .created_by_user_id = source->created_by_user_id,
                        .created_by_agent_id = source->created_by_agent_id};
  if (access_to(call.caller, role, *root) == Sight::none && access_to(call.caller, role, as_made) == Sight::none) {
    return not_found("sync source");
  }
  WS_SERVE(require_role(call, role));
  const bool opens_all = !root->project_id.empty() || is_admin(call.caller, role);
  return SeenSource{.source = std::move(*source), .root = std::move(*root), .role = role, .opens_all = opens_all};
}

Result<Sight> access_in(World& world, const Caller& caller, const SeenSource& seen, const Document& document) {
  if (seen.opens_all) return seen.role >= Role::editor ? Sight::edit : Sight::read;
  // A deleted document is told of as a tombstone: as it was before.
  Document as_active = document;
  as_active.archived = false;
  return access_to(world, caller, seen.role, as_active);
}

std::string actor_key(const Caller& caller) {
  return caller.agent_id.empty() ? "user:" + caller.owner_user_id : "agent:" + caller.agent_id;
}

Served<Plan> find_plan(World& world, const ServiceCall& call, std::string_view plan_id, std::string_view source_id) {
  WS_SERVE_LET(const sqlite::Lent row,
               world.database.cached("select id, source_id, client_id, base_revision, expires_at, commit_body "
                                     "from sync_plans where id = ? and source_id = ? and actor = ?"));
  row->bind_all(plan_id, source_id, actor_key(call.caller));
  WS_SERVE_LET(const bool found, row->step());
  if (!found) return not_found("plan");
  return Plan{.id = row->string(0),
              .source_id = row->string(1),
              .client_id = row->string(2),
              .base_revision = row->integer(3),
              .expires_at = row->integer(4),
              .commit_body = row->optional_string(5)};
}

}  // namespace ws::mock
