/// Every control call by itself: a function of the sandbox, the path's places, the query and the body.
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "server-mock/http/target.hpp"
#include "server-mock/sandbox.hpp"
#include "server-mock/services/service.hpp"

namespace ws::mock::control {

struct Call {
  Sandbox& sandbox;
  const http::Pairs& path;
  const http::Pairs& query;
  const Json& body;  ///< null where none was sent
};
using Handler = ServiceResult (*)(Call& call);

ServiceResult get_health(Call& call);
/// `{to: "seed" | "empty"}`
ServiceResult reset(Call& call);

ServiceResult get_clock(Call& call);
/// `{clock: "real" | "frozen:TIME" | "offset:+2h"}`
ServiceResult put_clock(Call& call);
/// `{seconds}`
ServiceResult advance_clock(Call& call);

ServiceResult get_requests(Call& call);
ServiceResult delete_requests(Call& call);

/// `{user_id?, agent_id?, audience?, workspace_id?, scopes?, expires_in?}`
ServiceResult create_key(Call& call);
ServiceResult revoke_key(Call& call);
ServiceResult expire_key(Call& call);

ServiceResult get_devices(Call& call);
/// `{user_id?, workspace_id?}`; without them the first person, in the first of their Workspaces.
ServiceResult approve_device(Call& call);
ServiceResult deny_device(Call& call);
ServiceResult expire_device(Call& call);

ServiceResult get_assumptions(Call& call);
/// `{key: value, ...}`: all or none.
ServiceResult patch_assumptions(Call& call);

}  // namespace ws::mock::control
