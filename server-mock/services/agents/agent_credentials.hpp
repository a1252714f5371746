/// The keys that agents act with: what their permissions allow, how a key is given and taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// The scopes of an agent with these permissions (`decisions.md`, "Credentials, roles, scopes"), in the order of the
/// API document. Each permission brings its own and no more: without `read` an agent reads nothing.
std::vector<std::string_view> scopes_for(const Json& permissions);

/// A credential as it is shown this once.
struct AgentCredential {
  std::string secret = {};
  std::string display_prefix = {};
  JsonBox scopes = {};
  std::int64_t created_at = 0;
};
Json to_json(const AgentCredential& credential);

/// A new key for the agent, beside those it has. Callers hold a UnitOfWork, here and below.
Result<AgentCredential> give_credential(World& world, std::string_view agent_id);
/// Every key of the agent is revoked from now on.
Result<void> revoke_credentials(World& world, std::string_view agent_id);
/// The keys that the agent has allow from now on what `permissions` say.
Result<void> rescope_credentials(World& world, std::string_view agent_id, const Json& permissions);

/// An agent that calls is seen: `last_seen_at`, to the minute, so that not every call writes. Not for people.
Result<void> note_seen(World& world, const Caller& caller);

}  // namespace ws::mock
