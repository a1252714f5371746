/// The device flow (RFC 8628): a client starts a login, a person decides on the page, the client polls and gets one
/// key.
///
/// States: pending -> approved -> consumed, or pending -> denied. After its expiry a login counts as expired in every
/// state but consumed.
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
  std::int64_t polls = 0;         ///< number of polls answered as pending
  std::string status = {};        ///< "pending", "approved", "denied", "consumed", "expired"
  std::string user_id = {};       ///< who approved, and for which Workspace
  std::string workspace_id = {};  ///< empty: all of that person's
};

struct NewDeviceLogin {
  std::string_view client_name = {};
  std::string_view cli_version = {};
  std::vector<std::string> scopes = {};
};

struct StartedLogin {
  DeviceLogin login = {};
  std::string device_code = {};  ///< the client's secret; only its SHA-256 is stored
};
Result<StartedLogin> start_device_login(World& world, const NewDeviceLogin& request);

/// The outcome of a poll.
enum class Poll { pending, slow_down, approved, denied, expired, unknown };
struct Polled {
  Poll outcome = Poll::unknown;
  DeviceLogin login = {};
};
/// Counts the poll. With `--device auto` and `after:N` it also approves.
Result<Polled> poll_device_login(World& world, std::string_view device_code);

/// Accepts the code as a person may type it: either case, with or without hyphen and spaces.
Result<std::optional<DeviceLogin>> find_device_login(World& world, std::string_view user_code);
Result<std::vector<DeviceLogin>> list_device_logins(World& world);

/// Without a Workspace the key will be for all of the person's (audience `user`). False if the login is not pending any
/// more.
Result<bool> approve_device_login(World& world,
                                  const DeviceLogin& login,
                                  std::string_view user_id,
                                  std::string_view workspace_id);
Result<bool> deny_device_login(World& world, const DeviceLogin& login);
Result<bool> expire_device_login(World& world, const DeviceLogin& login);
/// The key was issued; the code cannot be used again.
Result<void> consume_device_login(World& world, const DeviceLogin& login);

/// A person who can approve, with one of their Workspaces.
struct Membership {
  std::string user_id = {};
  std::string display_name = {};
  std::string email = {};
  std::string workspace_id = {};
  std::string workspace_name = {};
  std::string role = {};
};
/// Ordered by person, then Workspace; the first is the default approver.
Result<std::vector<Membership>> list_memberships(World& world);

}  // namespace ws::mock
