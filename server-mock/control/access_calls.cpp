// Control calls about keys and device logins.
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/services/device_logins.hpp"
#include "server-mock/services/keys.hpp"
#include "server-mock/services/refuse.hpp"

namespace ws::mock::control {
namespace {

Refused unfit(std::string_view member, std::string_view message, const Json& input) {
  return invalid("body", member, "value_error", message, input);
}

/// Of the body, or all there are.
Served<std::vector<std::string>> scopes_of(const Json& body) {
  const Json* given = find(body, "scopes");
  if (given == nullptr) return std::vector<std::string>(contract::all_scopes.begin(), contract::all_scopes.end());
  std::vector<std::string> scopes;
  if (!given->is_array()) return unfit("scopes", "scopes is a list of texts", *given);
  for (const Json& scope : *given) {
    if (!scope.is_string()) return unfit("scopes", "scopes is a list of texts", *given);
    scopes.push_back(scope.get<std::string>());
  }
  return scopes;
}

/// Who owns the key: an agent's owner, the person named, or the first of the built-in world.
Served<std::string> owner_of(Call& call, const std::string& agent_id) {
  if (agent_id.empty()) return find_text(call.body, "user_id").value_or(call.sandbox.built_in.user_id);
  WS_SERVE_LET(const sqlite::Lent row,
               call.sandbox.world->database.cached("select owner_user_id from agents where id = ?"));
  row->bind(1, agent_id);
  WS_SERVE_LET(const bool found, row->step());
  if (!found) return not_found("agent");
  return row->string(0);
}

Served<std::optional<std::int64_t>> expiry_of(Call& call) {
  const Json* given = find(call.body, "expires_in");
  if (given == nullptr || given->is_null()) return std::nullopt;
  constexpr std::int64_t longest = std::int64_t{100} * 366 * 86400;
  const auto seconds = find_integer(call.body, "expires_in");
  if (!seconds || *seconds > longest || *seconds < -longest) {
    return unfit("expires_in", "expires_in is a number of seconds", *given);
  }
  return call.sandbox.world->now() + *seconds * 1000;
}

Answer key_answer(const NewKey& key, const IssuedKey& issued) {
  return {.status = 201,
          .body = Json{{"key_id", issued.id},
                       {"secret", issued.secret},
                       {"audience", name(key.audience)},
                       {"user_id", key.owner_user_id},
                       {"agent_id", key.agent_id.empty() ? Json(nullptr) : Json(key.agent_id)},
                       {"workspace_id", key.workspace_id.empty() ? Json(nullptr) : Json(key.workspace_id)},
                       {"scopes", key.scopes},
                       {"expires_at", key.expires_at ? Json(rfc3339(*key.expires_at)) : Json(nullptr)}}};
}

Json to_json(const DeviceLogin& login) {
  return {{"user_code", login.user_code},
          {"status", login.status},
          {"client_name", login.client_name},
          {"cli_version", login.cli_version},
          {"scopes", login.scopes},
          {"interval", login.interval_s},
          {"polls", login.polls},
          {"created_at", rfc3339(login.created_at)},
          {"expires_at", rfc3339(login.expires_at)},
          {"user_id", login.user_id.empty() ? Json(nullptr) : Json(login.user_id)},
          {"workspace_id", login.workspace_id.empty() ? Json(nullptr) : Json(login.workspace_id)}};
}

Served<DeviceLogin> login_of(Call& call) {
  WS_SERVE_LET(std::optional<DeviceLogin> login,
               find_device_login(*call.sandbox.world, http::value_of(call.path, "code")));
  if (!login) return not_found("device login");
  return std::move(*login);
}

/// The login as it is now; 409 where the decision came too late.
ServiceResult decided(Call& call, bool moved) {
  if (!moved) return conflict("already_finished", "The login is not pending any more");
  WS_SERVE_LET(const DeviceLogin now, login_of(call));
  return Answer{.body = to_json(now)};
}

}  // namespace

ServiceResult create_key(Call& call) {
  const std::string agent_id = find_text(call.body, "agent_id").value_or("");
  const std::string audience_name = find_text(call.body, "audience").value_or("workspace");
  const auto audience = find_audience(audience_name);
  if (!audience) return unfit("audience", "audience is user, workspace or platform_admin", audience_name);
  WS_SERVE_LET(const std::string owner, owner_of(call, agent_id));
  WS_SERVE_LET(std::vector<std::string> scopes, scopes_of(call.body));
  WS_SERVE_LET(const std::optional<std::int64_t> expires_at, expiry_of(call));
  const bool bound = *audience == Audience::workspace;
  const std::string workspace_id =
      find_text(call.body, "workspace_id").value_or(bound ? call.sandbox.built_in.workspace_id : "");
  const NewKey key = {.owner_user_id = owner,
                      .agent_id = agent_id,
                      .audience = *audience,
                      .workspace_id = workspace_id,
                      .scopes = std::move(scopes),
                      .expires_at = expires_at};
  WS_SERVE_LET(UnitOfWork work, UnitOfWork::begin(*call.sandbox.world));
  WS_SERVE_LET(const IssuedKey issued, issue_key(*call.sandbox.world, key));
  WS_SERVE(work.commit());
  return key_answer(key, issued);
}

ServiceResult revoke_key(Call& call) {
  WS_SERVE_LET(const bool found, mock::revoke_key(*call.sandbox.world, http::value_of(call.path, "id")));
  if (!found) return not_found("key");
  return Answer{.status = 204};
}

ServiceResult expire_key(Call& call) {
  WS_SERVE_LET(const bool found, mock::expire_key(*call.sandbox.world, http::value_of(call.path, "id")));
  if (!found) return not_found("key");
  return Answer{.status = 204};
}

ServiceResult get_devices(Call& call) {
  WS_SERVE_LET(const std::vector<DeviceLogin> logins, list_device_logins(*call.sandbox.world));
  Json data = Json::array();
  for (const DeviceLogin& login : logins) data.push_back(to_json(login));
  return Answer{.body = Json{{"data", std::move(data)}}};
}

ServiceResult approve_device(Call& call) {
  WS_SERVE_LET(const DeviceLogin login, login_of(call));
  WS_SERVE_LET(const std::vector<Membership> people, list_memberships(*call.sandbox.world));
  const auto user_id = find_text(call.body, "user_id");
  const auto workspace_id = find_text(call.body, "workspace_id");
  for (const Membership& member : people) {
    if (user_id && member.user_id != *user_id) continue;
    if (workspace_id && member.workspace_id != *workspace_id) continue;
    WS_SERVE_LET(const bool moved,
                 approve_device_login(*call.sandbox.world, login, member.user_id, member.workspace_id));
    return decided(call, moved);
  }
  return not_found("member of that Workspace");
}

ServiceResult deny_device(Call& call) {
  WS_SERVE_LET(const DeviceLogin login, login_of(call));
  WS_SERVE_LET(const bool moved, deny_device_login(*call.sandbox.world, login));
  return decided(call, moved);
}

ServiceResult expire_device(Call& call) {
  WS_SERVE_LET(const DeviceLogin login, login_of(call));
  WS_SERVE_LET(const bool moved, expire_device_login(*call.sandbox.world, login));
  return decided(call, moved);
}

}  // namespace ws::mock::control
