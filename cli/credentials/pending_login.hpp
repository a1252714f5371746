/// Device logins that were started and not finished: `$XDG_STATE_HOME/ws/logins/ID.json`, 0600.
///
/// They hold the device code, a secret; whoever resumes a login names it by its id.
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
};

class PendingLogins {
 public:
  /// Of `$XDG_STATE_HOME/ws`.
  explicit PendingLogins(const std::filesystem::path& state_folder) : folder_(state_folder / "logins") {}

  /// Fails with `disk`.
  Result<void> save(const PendingLogin& login) const;
  /// An empty id: the one that was begun last. Fails with `not_found`, or `disk`.
  Result<PendingLogin> load(std::string_view authorization_id) const;
  void forget(std::string_view authorization_id) const;

 private:
  std::filesystem::path file(std::string_view authorization_id) const;

  std::filesystem::path folder_;
};

}  // namespace ws::cli
