#include "server-mock/services/shared/visibility.hpp"

#include <algorithm>

#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

using contract::Role;

AccessLevel by_role(Role role) {
  if (role >= Role::editor) return AccessLevel::edit;
  if (role >= Role::commenter) return AccessLevel::comment;
  return role >= Role::viewer ? AccessLevel::read : AccessLevel::none;
}

bool made_by(const Caller& caller, std::string_view user_id, std::string_view agent_id) {
  if (!caller.agent_id.empty()) return agent_id == caller.agent_id;
  return user_id == caller.owner_user_id;
}

Result<AccessLevel> shared_with(World& world, const Caller& caller, std::string_view document_id) {
  const bool agent = !caller.agent_id.empty();
  WS_LET(const std::optional<std::string> permission,
         read_row(world,
                  read_text,
                  "select permission from shares where document_id = ? and grantee_kind = ? and grantee_id = ?",
                  document_id,
                  agent ? "agent" : "user",
                  agent ? caller.agent_id : caller.owner_user_id));
  if (!permission) return AccessLevel::none;
  if (*permission == "edit") return AccessLevel::edit;
  return *permission == "comment" ? AccessLevel::comment : AccessLevel::read;
}

}  // namespace

Role read_role(const sqlite::Statement& row) { return contract::find_role(row.text(0)).value_or(Role::none); }

Result<Role> member_role(World& world, std::string_view workspace_id, std::string_view user_id) {
  WS_LET(
      const std::optional<Role> role,
      read_row(
          world, read_role, "select role from members where workspace_id = ? and user_id = ?", workspace_id, user_id));
  return role.value_or(Role::none);
}

Result<Role> role_in(World& world, const Caller& caller, std::string_view workspace_id) {
  if (workspace_id == caller.workspace_id) return caller.role;
  if (caller.audience == Audience::workspace || !caller.agent_id.empty()) return Role::none;
  WS_LET(const Role role, member_role(world, workspace_id, caller.owner_user_id));
  return std::min(role, caller.ceiling);
}

Result<Caller> caller_in(
    World& world, std::string_view workspace_id, std::string_view user_id, std::string_view agent_id, Role ceiling) {
  WS_LET(const Role role, member_role(world, workspace_id, user_id));
  return Caller{.owner_user_id = std::string(user_id),
                .agent_id = std::string(agent_id),
                .audience = Audience::workspace,
                .workspace_id = std::string(workspace_id),
                .role = std::min(role, ceiling),
                .ceiling = ceiling};
}

bool is_admin(const Caller& caller, Role role) { return caller.agent_id.empty() && role >= Role::admin; }

std::optional<std::int64_t> bound_admin_flag(const Caller& caller) {
  if (caller.ceiling < Role::admin) return std::nullopt;
  return is_admin(caller, caller.role) ? 1 : 0;
}

AccessLevel access_to(const Caller& caller, Role role, const Node& node) {
  const bool open = !node.project_id.empty() || node.kind == "asset" || is_admin(caller, role) ||
                    made_by(caller, node.created_by_user_id, node.created_by_agent_id);
  return open ? by_role(role) : AccessLevel::none;
}

Result<AccessLevel> access_to(World& world, const Caller& caller, Role role, const Document& document) {
  AccessLevel access = AccessLevel::none;
  if (!document.project_id.empty() || is_admin(caller, role) ||
      made_by(caller, document.created_by_user_id, document.created_by_agent_id)) {
    access = by_role(role);
  } else if (role != Role::none) {
    WS_LET(const AccessLevel share, shared_with(world, caller, document.id));
    access = std::min(share, by_role(role));
  }
  if (document.archived && access != AccessLevel::edit) return AccessLevel::none;
  return access;
}

std::string_view bound_workspace(const Caller& caller) {
  const bool is_bound = caller.audience == Audience::workspace || !caller.agent_id.empty();
  return is_bound ? std::string_view(caller.workspace_id) : std::string_view();
}

Result<Actor> find_actor(World& world, const Caller& caller) {
  const bool agent = !caller.agent_id.empty();
  const std::string& id = agent ? caller.agent_id : caller.owner_user_id;
  const char* sql =
      agent ? "select display_name from agents where id = ?" : "select display_name from users where id = ?";
  WS_LET(const std::optional<std::string> name, read_row(world, read_text, sql, id));
  return Actor{.kind = agent ? "agent" : "user", .id = id, .name = name.value_or("")};
}

}  // namespace ws::mock
