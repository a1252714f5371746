/// The device authorization flow (RFC 8628; `decisions.md`, "Device authorization"): request a code, let the user
/// approve it in a browser on any device, poll for the key.
///
/// The API document does not specify the response while approval is pending, so every form listed in `decisions.md`
/// is accepted: 400 with `code` or `error`, a `detail` that is or contains the code, 428, 202, and 200 without a
/// secret.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "api-client/client/client.hpp"

namespace ws {

struct DeviceAuthorization {
  std::string authorization_id = {};
  std::string device_code = {};  ///< a secret
  std::string user_code = {};    ///< shown to the user, who compares or types it
  std::string verification_uri = {};
  std::string verification_uri_complete = {};  ///< empty if the service gave none
  std::chrono::seconds interval{5};            ///< between two polls
  Time expires_at = {};
  std::string body = {};  ///< the response as it was received; contains the device code
};

struct DeviceKey {
  std::string secret = {};
  std::string key_id = {};
  std::string audience = {};
  std::vector<std::string> scopes = {};
  std::string expires_at = {};  ///< as the service sent it; empty: never
  std::string created_at = {};
  std::string workspace_id = {};
  std::string workspace_name = {};
};

/// Requests a device code. Fails as any call, and with `internal` if the response lacks the code or the address.
Result<DeviceAuthorization> start_device_login(Client& client,
                                               const Clock& clock,
                                               const std::string& client_name,
                                               const std::string& cli_version,
                                               const std::vector<std::string>& scopes);

/// The meaning of one poll's response.
struct Poll {
  enum class Kind {
    granted,
    pending,
    slow_down,  ///< pending, and poll 5 s less often from now on
    lost,       ///< no response, or a request to come back later
    refused,    ///< final: stop polling
  };
  Kind kind = Kind::pending;
  DeviceKey key = {};    ///< of `granted`
  Failure failure = {};  ///< of `lost` and `refused`: `forbidden` if denied, `auth` if expired or already used,
                         ///< `internal` if the key cannot be sent in a header
};
Poll read_poll(const Result<Reply>& answer);

/// Computes the delay before the next poll.
struct PollDelay {
  std::chrono::milliseconds interval{5'000};
  int lost_in_a_row = 0;
  /// The delay after `poll`: the interval, 5 s longer from the first `slow_down` on, doubled for each lost poll in a
  /// row up to 60 s, and never shorter than the service requests.
  std::chrono::milliseconds after(const Poll& poll);
};

/// Waits for the given time; fails with `cancelled` if the user interrupts.
using Waiter = std::function<Result<void>(std::chrono::milliseconds)>;
/// Waits by sleeping; `cancelled` may be null.
Waiter make_sleeper(const std::atomic<bool>* cancelled);

/// Polls once: returns the key, or nothing while approval is pending. Fails as `read_poll` says.
Result<std::optional<DeviceKey>> poll_device_login(Client& client, const std::string& device_code);

/// Polls until the key is granted, also after a lost connection. Fails with `forbidden` if denied, `auth` if not
/// approved before `expires_at`, `internal` (code `unusable_answer`) if the key cannot be sent in a header.
Result<DeviceKey> await_device_key(Client& client,
                                   const Clock& clock,
                                   const DeviceAuthorization& authorization,
                                   const Waiter& wait);

}  // namespace ws
