/// The keys of agents: issue, revoke, and derive their scopes from the agent's permissions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// A new credential; its secret is shown only once.
struct AgentCredential {
  std::string secret = {};
  std::string display_prefix = {};
  JsonBox scopes = {};
  std::int64_t created_at = 0;
};
Json to_json(const AgentCredential& credential);

/// Issues another key for the agent. Call this and the following within a UnitOfWork.
Result<AgentCredential> issue_credential(World& world, std::string_view agent_id);
/// Revokes all keys of the agent.
Result<void> revoke_credentials(World& world, std::string_view agent_id);
/// Sets the scopes of the agent's keys according to `permissions`.
Result<void> update_credential_scopes(World& world, std::string_view agent_id, const Json& permissions);

/// Sets `last_seen_at` of a calling agent, rounded to minutes so that not every call writes. Does nothing for people.
Result<void> update_last_seen(World& world, const Caller& caller);

}  // namespace ws::mock
