// Control calls for device logins.
#include <nlohmann/json.hpp>

#include "api-client/contract/operations/fields.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/services/authorization/device_logins.hpp"
#include "server-mock/services/shared/errors.hpp"

namespace ws::mock::control {
namespace {

using contract::optional;

constexpr std::string_view login_audiences[] = {"workspace", "user"};
constexpr contract::Field approval_fields[] = {
    optional("audience", contract::choice(login_audiences)),
    optional("user_id", contract::string(1, 100)),
    optional("workspace_id", contract::string(1, 100)),
};
constexpr contract::Schema approval_body = {.name = "Approval", .fields = approval_fields};

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

ApiResult<DeviceLogin> login_of(Call& call) {
  WS_API_LET(std::optional<DeviceLogin> login,
             find_device_login(*call.sandbox.world, http::value_of(call.path, "code")));
  if (!login) return not_found("device login");
  return std::move(*login);
}

/// The login after the decision; 409 if it was no longer pending.
ServiceResult decided(Call& call, bool moved) {
  if (!moved) return conflict("already_finished", "The login is not pending any more");
  WS_API_LET(const DeviceLogin now, login_of(call));
  return Answer{.body = to_json(now)};
}

ServiceResult get_devices(Call& call) {
  WS_API_LET(const std::vector<DeviceLogin> logins, list_device_logins(*call.sandbox.world));
  Json data = Json::array();
  for (const DeviceLogin& login : logins) data.push_back(to_json(login));
  return Answer{.body = Json{{"data", std::move(data)}}};
}

/// `{user_id?, workspace_id?, audience?}`. Default: the first person, in their first Workspace; with the audience
/// `user` the key is for all of theirs.
ServiceResult approve_device(Call& call) {
  WS_API_LET(const DeviceLogin login, login_of(call));
  WS_API_LET(const std::vector<Membership> people, list_memberships(*call.sandbox.world));
  const auto user_id = find_text(call.body, "user_id");
  const auto workspace_id = find_text(call.body, "workspace_id");
  for (const Membership& member : people) {
    if (user_id && member.user_id != *user_id) continue;
    if (workspace_id && member.workspace_id != *workspace_id) continue;
    const bool all = find_text(call.body, "audience") == "user";
    WS_API_LET(const bool moved,
               approve_device_login(*call.sandbox.world,
                                    login,
                                    member.user_id,
                                    all ? std::string_view() : std::string_view(member.workspace_id)));
    return decided(call, moved);
  }
  return not_found("member of that Workspace");
}

ServiceResult deny_device(Call& call) {
  WS_API_LET(const DeviceLogin login, login_of(call));
  WS_API_LET(const bool moved, deny_device_login(*call.sandbox.world, login));
  return decided(call, moved);
}

ServiceResult expire_device(Call& call) {
  WS_API_LET(const DeviceLogin login, login_of(call));
  WS_API_LET(const bool moved, expire_device_login(*call.sandbox.world, login));
  return decided(call, moved);
}

}  // namespace

CallTable device_calls() {
  static constexpr CallEntry entries[] = {
      {"GET", "/_mock/devices", "device logins", get_devices, nothing},
      {"POST", "/_mock/devices/{code}:approve", "approve a device login", approve_device, members(approval_body)},
      {"POST", "/_mock/devices/{code}:deny", "deny a device login", deny_device, nothing},
      {"POST", "/_mock/devices/{code}:expire", "let a device code expire", expire_device, nothing},
  };
  return entries;
}

}  // namespace ws::mock::control
