/// Device logins (RFC 8628): a client asks, a person decides on the page, the client polls and gets one key, once.
///
/// States: pending -> approved -> consumed, or pending -> denied. What is past its time is expired, whatever its state,
/// unless its key was already handed out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct DeviceLogin {
  std::string id = {};
  std::string user_code = {};
  std::string client_name = {};
  std::string cli_version = {};
  std::vector<std::string> scopes = {};
  std::int64_t interval_s = 5;
  std::int64_t created_at = 0;
  std::int64_t expires_at = 0;
  std::optional<std::int64_t> last_poll_at = {};
  std::int64_t polls = 0;    ///< answered as pending so far
  std::string status = {};   ///< "pending", "approved", "denied", "consumed", "expired"
  std::string user_id = {};  ///< who approved, and for which Workspace
  std::string workspace_id = {};
};

struct DeviceRequest {
  std::string_view client_name = {};
  std::string_view cli_version = {};
  std::vector<std::string> scopes = {};
};

struct StartedLogin {
  DeviceLogin login = {};
  std::string device_code = {};  ///< the client's secret; only its SHA-256 is kept
};
Result<StartedLogin> start_device_login(World& world, const DeviceRequest& request);

/// What a poll comes to.
enum class Poll { pending, slow_down, approved, denied, expired, unknown };
struct Polled {
  Poll outcome = Poll::unknown;
  DeviceLogin login = {};
};
/// Counts the poll; under `--device auto` and `after:N` it is what approves.
Result<Polled> poll_device_login(World& world, std::string_view device_code);

/// The code as a person may type it: either case, with or without its hyphen and spaces.
Result<std::optional<DeviceLogin>> find_device_login(World& world, std::string_view user_code);
Result<std::vector<DeviceLogin>> list_device_logins(World& world);

/// False where it is not pending any more.
Result<bool> approve_device_login(World& world,
                                  const DeviceLogin& login,
                                  std::string_view user_id,
                                  std::string_view workspace_id);
Result<bool> deny_device_login(World& world, const DeviceLogin& login);
Result<bool> expire_device_login(World& world, const DeviceLogin& login);
/// The key is handed out: never again.
Result<void> consume_device_login(World& world, const DeviceLogin& login);

/// Somebody who can approve, in one of their Workspaces.
struct Membership {
  std::string user_id = {};
  std::string display_name = {};
  std::string email = {};
  std::string workspace_id = {};
  std::string workspace_name = {};
  std::string role = {};
};
/// In order of person, then Workspace: the first is who approves where nobody is asked.
Result<std::vector<Membership>> list_memberships(World& world);

}  // namespace ws::mock
