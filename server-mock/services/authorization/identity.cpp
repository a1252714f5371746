#include <nlohmann/json.hpp>

#include "server-mock/services/authorization/keys.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/service_tables.hpp"

namespace ws::mock {
namespace {

ApiResult<Json> user_of(World& world, const Caller& caller) {
  WS_API_LET(const sqlite::CachedStatement row,
             world.database.cached("select id, email, display_name from users where id = ?"));
  row->bind(1, caller.owner_user_id);
  WS_API_LET(const bool found, row->step());
  if (!found || !caller.agent_id.empty()) return Json(nullptr);
  return Json{{"id", row->text(0)}, {"email", row->text(1)}, {"display_name", row->text(2)}};
}

ApiResult<Json> agent_of(World& world, const Caller& caller) {
  WS_API_LET(const sqlite::CachedStatement row, world.database.cached("select id, handle from agents where id = ?"));
  row->bind(1, caller.agent_id);
  WS_API_LET(const bool found, row->step());
  if (!found) return Json(nullptr);
  return Json{{"id", row->text(0)}, {"handle", row->text(1)}};
}

/// The default Workspace of the key, if its owner is still a member.
ApiResult<Json> workspace_of(World& world, const Caller& caller) {
  if (caller.role == contract::Role::none) return Json(nullptr);
  WS_API_LET(const sqlite::CachedStatement row, world.database.cached("select id, name from workspaces where id = ?"));
  row->bind(1, caller.workspace_id);
  WS_API_LET(const bool found, row->step());
  if (!found) return Json(nullptr);
  return Json{{"id", row->text(0)}, {"name", row->text(1)}, {"role", contract::name(caller.role)}};
}

ApiResult<Json> credential_of(World& world, const Caller& caller) {
  WS_API_LET(const sqlite::CachedStatement row, world.database.cached("select expires_at from keys where id = ?"));
  row->bind(1, caller.key_id);
  WS_API_LET(const bool found, row->step());
  Json expires_at = nullptr;
  if (found && !row->is_null(0)) expires_at = rfc3339(row->integer(0));
  return Json{{"key_id", caller.key_id},
              {"audience", name(caller.audience)},
              {"scopes", caller.scopes},
              {"expires_at", std::move(expires_at)}};
}

ServiceResult get_identity(World& world, const ServiceCall& call) {
  WS_API_LET(Json user, user_of(world, call.caller));
  WS_API_LET(Json agent, agent_of(world, call.caller));
  WS_API_LET(Json workspace, workspace_of(world, call.caller));
  WS_API_LET(Json credential, credential_of(world, call.caller));
  return Answer{.body = Json{{"object", "identity"},
                             {"user", std::move(user)},
                             {"agent", std::move(agent)},
                             {"workspace", std::move(workspace)},
                             {"credential", std::move(credential)},
                             {"links", {{"self", "/v1/me"}, {"workspaces", "/v1/workspaces"}}}}};
}

}  // namespace

ServiceTable identity_services() {
  static constexpr ServiceEntry entries[] = {
      {"me.get", get_identity},
  };
  return entries;
}

}  // namespace ws::mock
