#include "server-mock/services/authorization/keys.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

constexpr std::array<std::string_view, 3> audience_names = {"user", "workspace", "platform_admin"};

Result<bool> stamp(World& world, const char* sql, std::string_view key_id) {
  WS_TRY(put(world, sql, world.now(), key_id));
  return world.database.changes() > 0;
}

}  // namespace

Result<IssuedKey> issue_key(World& world, const NewKey& key) {
  IssuedKey issued = {.id = world.ids.uuid("key"), .secret = world.ids.token("key"), .created_at = world.now()};
  WS_TRY(put(world,
             "insert into keys (id, secret_sha256, owner_user_id, agent_id, audience, workspace_id, "
             "scopes, created_at, expires_at, display_prefix, ceiling) "
             "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
             issued.id,
             Sha256::of(issued.secret).hex(),
             key.owner_user_id,
             key.agent_id,
             ws::mock::name(key.audience),
             key.workspace_id,
             dump(Json(key.scopes)),
             issued.created_at,
             key.expires_at,
             display_prefix(issued.secret),
             contract::name(key.ceiling)));
  return issued;
}

Result<bool> revoke_key(World& world, std::string_view key_id) {
  return stamp(world, "update keys set revoked_at = coalesce(revoked_at, ?1) where id = ?2", key_id);
}

Result<bool> expire_key(World& world, std::string_view key_id) {
  return stamp(world, "update keys set expires_at = ?1 where id = ?2", key_id);
}

std::string_view display_prefix(std::string_view secret) { return secret.substr(0, 12); }

std::string_view name(Audience audience) { return audience_names.at(static_cast<std::size_t>(audience)); }

std::optional<Audience> find_audience(std::string_view name) {
  const auto found = std::ranges::find(audience_names, name);
  if (found == audience_names.end()) return std::nullopt;
  return static_cast<Audience>(found - audience_names.begin());
}

}  // namespace ws::mock
