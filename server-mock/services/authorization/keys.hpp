/// API keys. Only the SHA-256 of a secret is stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct NewKey {
  std::string_view owner_user_id = {};
  std::string_view agent_id = {};  ///< empty: a person's key
  Audience audience = Audience::workspace;
  std::string_view workspace_id = {};  ///< empty with `user` and `platform_admin`: all Workspaces of the owner
  std::vector<std::string> scopes = {};
  std::optional<std::int64_t> expires_at = {};
  contract::Role ceiling = contract::Role::owner;  ///< highest role that the key grants
};

struct IssuedKey {
  std::string id = {};
  std::string secret = {};  ///< returned only here; cannot be read again
  std::int64_t created_at = 0;
};

/// Call it within a UnitOfWork.
Result<IssuedKey> issue_key(World& world, const NewKey& key);
/// False if there is no such key. Revoking again keeps the first time.
Result<bool> revoke_key(World& world, std::string_view key_id);
/// Sets the expiry to now; false if there is no such key.
Result<bool> expire_key(World& world, std::string_view key_id);

/// A prefix that identifies the key without disclosing it: "wsk_" and eight more characters.
std::string_view display_prefix(std::string_view secret);
/// "user", "workspace", "platform_admin".
std::string_view name(Audience audience);
std::optional<Audience> find_audience(std::string_view name);

}  // namespace ws::mock
