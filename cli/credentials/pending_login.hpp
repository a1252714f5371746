/// Device logins that were started but not completed: `$XDG_STATE_HOME/ws/logins/ID.json`, mode 0600.
///
/// The files contain the device code, a secret. To resume a login, its id is enough.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "api-client/login/device_login.hpp"

namespace ws::cli {

struct PendingLogin {
  DeviceAuthorization authorization = {};
  std::string base_url = {};
  std::string profile = {};
  std::vector<std::string> scopes = {};
  std::string store = {};  ///< where its key is to be kept, `keyring` or `file`; empty: not decided
};

class PendingLogins {
 public:
  /// `state_folder` is `$XDG_STATE_HOME/ws`.
  explicit PendingLogins(const std::filesystem::path& state_folder) : folder_(state_folder / "logins") {}

  /// Fails with `disk`.
  Result<void> save(const PendingLogin& login) const;
  /// An empty id loads the most recent login, of `profile` where that is not empty; one at the server `origin` goes
  /// before others. Fails with `not_found` or `disk`.
  Result<PendingLogin> load(std::string_view authorization_id,
                            std::string_view profile = {},
                            std::string_view origin = {}) const;
  void forget(std::string_view authorization_id) const;
  /// Where it is kept, readable by its owner alone.
  std::filesystem::path file(std::string_view authorization_id) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ws::cli
