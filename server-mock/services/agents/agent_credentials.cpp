#include "server-mock/services/agents/agent_credentials.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "server-mock/services/authorization/keys.hpp"
#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

constexpr std::int64_t seen_every_ms = 60'000;

/// The permission that grants a scope; empty if agents cannot have it.
std::string_view permission_for(std::string_view scope) {
  if (scope.starts_with("tests:") || scope.starts_with("admin_")) return {};
  if (scope.ends_with(":read") || scope.starts_with("agent_events:") || scope == "questions:write") return "read";
  if (scope == "comments:write") return "comment";
  if (scope == "documents:write" || scope == "assets:write" || scope == "sync:write") return "edit";
  return {};
}

/// The scopes for these permissions (`decisions.md`, "Credentials, roles, scopes"), in the order of the API document.
/// Permissions do not imply each other: without `read` an agent reads nothing.
std::vector<std::string_view> scopes_for(const Json& permissions) {
  std::vector<std::string_view> scopes;
  for (const std::string_view scope : contract::all_scopes) {
    const std::string_view permission = permission_for(scope);
    if (!permission.empty() && std::ranges::find(permissions, Json(permission)) != permissions.end()) {
      scopes.push_back(scope);
    }
  }
  return scopes;
}

}  // namespace

Json to_json(const AgentCredential& credential) {
  return {{"secret", credential.secret},
          {"display_prefix", credential.display_prefix},
          {"scopes", *credential.scopes},
          {"created_at", rfc3339(credential.created_at)}};
}

Result<AgentCredential> issue_credential(World& world, std::string_view agent_id) {
  struct Agent {
    std::string owner_user_id = {};
    std::string workspace_id = {};
    std::string permissions = {};
  };
  WS_LET(
      const std::optional<Agent> agent,
      read_row(
          world, read_as<Agent>, "select owner_user_id, workspace_id, permissions from agents where id = ?", agent_id));
  if (!agent) return fail(Failure::Kind::not_found, fmt::format("there is no agent {}", agent_id));
  WS_LET(const Json permissions, parse_bounded(agent->permissions));
  const std::vector<std::string_view> scopes = scopes_for(permissions);
  WS_LET(IssuedKey key,
         issue_key(world,
                   {.owner_user_id = agent->owner_user_id,
                    .agent_id = agent_id,
                    .workspace_id = agent->workspace_id,
                    .scopes = std::vector<std::string>(scopes.begin(), scopes.end())}));
  AgentCredential made = {.secret = std::move(key.secret), .scopes = Json(scopes), .created_at = key.created_at};
  made.display_prefix = display_prefix(made.secret);
  return made;
}

Result<void> revoke_credentials(World& world, std::string_view agent_id) {
  return put(world,
             "update keys set revoked_at = ? where agent_id = ? and agent_id <> '' "
             "and revoked_at is null",
             world.now(),
             agent_id);
}

Result<void> update_credential_scopes(World& world, std::string_view agent_id, const Json& permissions) {
  return put(world,
             "update keys set scopes = ? where agent_id = ? and agent_id <> '' "
             "and revoked_at is null",
             dump(Json(scopes_for(permissions))),
             agent_id);
}

Result<void> update_last_seen(World& world, const Caller& caller) {
  if (caller.agent_id.empty()) return {};
  return put(world,
             "update agents set last_seen_at = ?1 where id = ?2 "
             "and (last_seen_at is null or last_seen_at <= ?1 - ?3)",
             world.now(),
             caller.agent_id,
             seen_every_ms);
}

}  // namespace ws::mock
