/// Logging in on a device without a browser of its own: ask for a code, let a person approve it, poll for the key
/// (RFC 8628; `decisions.md`, "Device authorization").
///
/// The API document does not say how a service answers while approval is pending. Every form that `decisions.md` names
/// is understood: 400 with `code` or `error`, a `detail` that is the word or holds it, 428, 202, and 200 without a
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
  std::string user_code = {};    ///< what the person compares or types
  std::string verification_uri = {};
  std::string verification_uri_complete = {};  ///< empty where the service gave none
  std::chrono::seconds interval{5};            ///< between two polls
  Time expires_at = {};
  std::string body = {};  ///< the answer as it came; holds the device code
};

struct DeviceKey {
  std::string secret = {};
  std::string key_id = {};
  std::string audience = {};
  std::vector<std::string> scopes = {};
  std::string expires_at = {};  ///< as the service wrote it; empty: never
  std::string created_at = {};
  std::string workspace_id = {};
  std::string workspace_name = {};
};

/// Begins a login. Fails like any call, and with `internal` where the answer lacks code or address.
Result<DeviceAuthorization> start_device_login(Client& client,
                                               const Clock& clock,
                                               const std::string& client_name,
                                               const std::string& cli_version,
                                               const std::vector<std::string>& scopes);

/// What one poll's answer means.
struct Poll {
  enum class Kind {
    granted,
    pending,
    slow_down,  ///< pending, and 5 s slower from now on
    lost,       ///< no answer, or one that says to come back later
    refused,    ///< final
  };
  Kind kind = Kind::pending;
  DeviceKey key = {};    ///< of `granted`
  Failure failure = {};  ///< of `lost` and `refused`: denied `forbidden`, expired or used up `auth`, a key that no
                         ///< call could carry `internal`
};
Poll read_poll(const Result<Reply>& answer);

/// How long to wait before the next poll.
struct Pace {
  std::chrono::milliseconds interval{5'000};
  int lost_in_a_row = 0;
  /// After `poll`: the interval, 5 s longer for good after `slow_down`, doubled for each lost poll in a row up to 60 s,
  /// never less than the service asks.
  std::chrono::milliseconds after(const Poll& poll);
};

/// Waits; fails with `cancelled` when the user interrupts.
using Waiter = std::function<Result<void>(std::chrono::milliseconds)>;
/// Sleeps; `cancelled` may be null.
Waiter make_sleeper(const std::atomic<bool>* cancelled);

/// One poll: the key, or nothing while approval is pending. Fails as `read_poll` says.
Result<std::optional<DeviceKey>> poll_device_login(Client& client, const std::string& device_code);

/// Polls until there is a key or an end: denied is `forbidden`, not approved before `expires_at` is `auth`, a key that
/// no call could carry is `internal` (code `unusable_answer`). A lost connection ends nothing.
Result<DeviceKey> await_device_key(Client& client,
                                   const Clock& clock,
                                   const DeviceAuthorization& authorization,
                                   const Waiter& wait);

}  // namespace ws
