/// Keys: made here and nowhere else after the built-in world. Only the SHA-256 of a secret is kept.
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
  std::string_view workspace_id = {};  ///< empty with `user` and `platform_admin`: every Workspace of the owner
  std::vector<std::string> scopes = {};
  std::optional<std::int64_t> expires_at = {};
  contract::Role ceiling = contract::Role::owner;  ///< the most that it grants, wherever its owner has more
};

struct IssuedKey {
  std::string id = {};
  std::string secret = {};  ///< shown once: it is not to be had again
  std::int64_t created_at = 0;
};

/// Callers hold a UnitOfWork, or make one.
Result<IssuedKey> issue_key(World& world, const NewKey& key);
/// False where there is no such key. A key revoked twice keeps its first time.
Result<bool> revoke_key(World& world, std::string_view key_id);
/// Lets a key expire now; false where there is none.
Result<bool> expire_key(World& world, std::string_view key_id);

/// The start of a secret that tells keys apart and opens nothing: "wsk_" and eight more.
std::string_view display_prefix(std::string_view secret);
/// "user", "workspace", "platform_admin".
std::string_view name(Audience audience);
std::optional<Audience> find_audience(std::string_view name);

}  // namespace ws::mock
