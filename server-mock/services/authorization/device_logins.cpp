#include "server-mock/services/authorization/device_logins.hpp"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "api-client/base/ascii.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/sha256.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

constexpr std::int64_t slow_down_s = 5;  // RFC 8628, 3.5

#define WS_DEVICE_COLUMNS                                                                               \
  "id, user_code, client_name, cli_version, scopes, interval_s, created_at, expires_at, last_poll_at, " \
  "polls, status, user_id, workspace_id"

struct LoginReader {
  const World& world;
  DeviceLogin operator()(const sqlite::Statement& row) const {
    auto login = read_as<DeviceLogin>(row);
    if (login.status != "consumed" && world.now() >= login.expires_at) login.status = "expired";
    return login;
  }
};

Result<std::optional<DeviceLogin>> find_one(World& world, const char* sql, std::string_view value) {
  return read_row(world, LoginReader{world}, sql, value);
}

/// Normalizes a user code: upper case, with the hyphen.
std::string normal_code(std::string_view typed) {
  std::string code;
  for (const char c : to_upper(typed)) {
    if (c >= 'A' && c <= 'Z') code += c;
  }
  if (code.size() > 4) code.insert(4, "-");
  return code;
}

/// Changes the status of a pending, unexpired login; false if it is not pending.
Result<bool> decide(World& world,
                    const DeviceLogin& login,
                    std::string_view status,
                    std::string_view user_id,
                    std::string_view workspace_id) {
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_TRY(put(world,
             "update device_authorizations set status = ?, user_id = ?, workspace_id = ? "
             "where id = ? and status = 'pending' and expires_at > ?",
             status,
             user_id,
             workspace_id,
             login.id,
             world.now()));
  const bool moved = world.database.changes() > 0;
  WS_TRY(work.commit());
  return moved;
}

Result<void> write_poll(World& world, const DeviceLogin& login) {
  return put(world,
             "update device_authorizations set interval_s = ?, last_poll_at = ?, polls = ? where id = ?",
             login.interval_s,
             login.last_poll_at,
             login.polls,
             login.id);
}

/// Decides the login if `--device` says so.
Result<void> decide_by_mode(World& world, DeviceLogin& login) {
  const DeviceMode mode = world.options.device;
  if (mode == DeviceMode::manual) return {};
  if (mode == DeviceMode::after_polls && login.polls < world.options.device_polls) return {};
  if (mode == DeviceMode::deny) {
    WS_TRY(deny_device_login(world, login));
  } else {
    WS_LET(const std::vector<Membership> people, list_memberships(world));
    if (people.empty()) return {};
    WS_TRY(approve_device_login(world, login, people.front().user_id, people.front().workspace_id));
  }
  WS_LET(std::optional<DeviceLogin> now, find_device_login(world, login.user_code));
  if (now) login = std::move(*now);
  return {};
}

/// The time since the last poll: by the world's clock or by the real one, whichever moved more. The client was told
/// seconds and waits them in real time, whatever the world's clock does meanwhile.
std::int64_t waited_ms(const World& world, const DeviceLogin& login) {
  if (!login.last_poll_at) return std::numeric_limits<std::int64_t>::max();
  const std::int64_t waited = world.now() - *login.last_poll_at;
  const auto real = world.real_polls.find(login.id);
  return real == world.real_polls.end() ? waited : std::max(waited, world.real_now() - real->second);
}

/// The outcome for a pending login: `pending`, or `slow_down` if the client polls too fast.
Result<Poll> wait(World& world, DeviceLogin& login) {
  const bool early = waited_ms(world, login) < login.interval_s * 1000;
  login.last_poll_at = world.now();
  world.real_polls.insert_or_assign(login.id, world.real_now());
  if (early) {
    login.interval_s += slow_down_s;
  } else {
    ++login.polls;
  }
  WS_TRY(write_poll(world, login));
  return early ? Poll::slow_down : Poll::pending;
}

}  // namespace

Result<StartedLogin> start_device_login(World& world, const NewDeviceLogin& request) {
  const std::int64_t now = world.now();
  StartedLogin started = {.login = {.id = world.ids.uuid("device_authorization"),
                                    .user_code = world.ids.user_code(),
                                    .client_name = std::string(request.client_name),
                                    .cli_version = std::string(request.cli_version),
                                    .scopes = request.scopes,
                                    .interval_s = world.options.device_interval.count(),
                                    .created_at = now,
                                    .expires_at = now + world.options.device_expires.count() * 1000,
                                    .status = "pending"},
                          .device_code = world.ids.code("device_code")};
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_TRY(put_row(world,
                 "insert into device_authorizations (" WS_DEVICE_COLUMNS
                 ", device_code_sha256) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 started.login,
                 Sha256::of(started.device_code).hex()));
  WS_TRY(work.commit());
  return started;
}

Result<Polled> poll_device_login(World& world, std::string_view device_code) {
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_LET(std::optional<DeviceLogin> found,
         find_one(world,
                  "select " WS_DEVICE_COLUMNS " from device_authorizations where device_code_sha256 = ?",
                  Sha256::of(device_code).hex()));
  if (!found) return Polled{};
  DeviceLogin login = std::move(*found);
  if (login.status == "pending") WS_TRY(decide_by_mode(world, login));
  if (login.status != "pending") world.real_polls.erase(login.id);
  Poll outcome = Poll::unknown;  // also for a code whose key was issued
  if (login.status == "pending") {
    WS_LET(outcome, wait(world, login));
  } else if (login.status == "approved") {
    outcome = Poll::approved;
  } else if (login.status == "denied") {
    outcome = Poll::denied;
  } else if (login.status == "expired") {
    outcome = Poll::expired;
  }
  WS_TRY(work.commit());
  return Polled{.outcome = outcome, .login = std::move(login)};
}

Result<std::optional<DeviceLogin>> find_device_login(World& world, std::string_view user_code) {
  return find_one(
      world, "select " WS_DEVICE_COLUMNS " from device_authorizations where user_code = ?", normal_code(user_code));
}

Result<std::vector<DeviceLogin>> list_device_logins(World& world) {
  return read_rows(world, LoginReader{world}, "select " WS_DEVICE_COLUMNS " from device_authorizations order by id");
}

Result<bool> approve_device_login(World& world,
                                  const DeviceLogin& login,
                                  std::string_view user_id,
                                  std::string_view workspace_id) {
  return decide(world, login, "approved", user_id, workspace_id);
}

Result<bool> deny_device_login(World& world, const DeviceLogin& login) {
  return decide(world, login, "denied", "", "");
}

Result<bool> expire_device_login(World& world, const DeviceLogin& login) {
  WS_TRY(put(world,
             "update device_authorizations set expires_at = ? where id = ? and expires_at > ?1",
             world.now(),
             login.id));
  return world.database.changes() > 0;
}

Result<void> consume_device_login(World& world, const DeviceLogin& login) {
  return put(world, "update device_authorizations set status = 'consumed' where id = ?", login.id);
}

Result<std::vector<Membership>> list_memberships(World& world) {
  return read_rows(world,
                   read_as<Membership>,
                   "select u.id, u.display_name, u.email, w.id, w.name, m.role from members m join users u on u.id = "
                   "m.user_id join workspaces w on w.id = m.workspace_id order by u.id, w.id");
}

}  // namespace ws::mock
