#include <nlohmann/json.hpp>

#include "server-mock/services/authorization/keys.hpp"
#include "server-mock/services/shared/arguments.hpp"
#include "server-mock/services/shared/service_tables.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

/// The row as an object, its columns under these names; null if there is none.
Result<Json> object_or_null(World& world,
                            std::initializer_list<std::string_view> names,
                            const char* sql,
                            std::string_view id) {
  const auto read = [&](const sqlite::Statement& row) {
    Json object = Json::object();
    int column = 0;
    for (const std::string_view name : names) object[std::string(name)] = row.text(column++);
    return object;
  };
  WS_LET(std::optional<Json> object, read_row(world, read, sql, id));
  return std::move(object).value_or(nullptr);
}

Result<Json> credential_of(World& world, const Caller& caller) {
  const auto read = [](const sqlite::Statement& row) { return row.optional_integer(0); };
  WS_LET(const auto expires_at, read_row(world, read, "select expires_at from keys where id = ?", caller.key_id));
  return Json{{"key_id", caller.key_id},
              {"audience", name(caller.audience)},
              {"scopes", caller.scopes},
              {"expires_at", expires_at && *expires_at ? Json(rfc3339(**expires_at)) : Json(nullptr)}};
}

ServiceResult get_identity(World& world, const ServiceCall& call) {
  const Caller& caller = call.caller;
  Json user;
  if (caller.agent_id.empty()) {
    WS_API_LET(user,
               object_or_null(world,
                              {"id", "email", "display_name"},
                              "select id, email, display_name from users where id = ?",
                              caller.owner_user_id));
  }
  WS_API_LET(Json agent,
             object_or_null(world, {"id", "handle"}, "select id, handle from agents where id = ?", caller.agent_id));
  // The default Workspace of the key, if its owner is still a member.
  Json workspace;
  if (caller.role != contract::Role::none) {
    WS_API_LET(
        workspace,
        object_or_null(world, {"id", "name"}, "select id, name from workspaces where id = ?", caller.workspace_id));
    if (!workspace.is_null()) workspace["role"] = contract::name(caller.role);
  }
  WS_API_LET(Json credential, credential_of(world, caller));
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
