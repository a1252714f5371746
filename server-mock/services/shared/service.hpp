/// What a service is: a function of the world and one call. No HTTP types inside.
///
/// The pipeline has already checked credential, scope and role in the caller's Workspace, and validated the input
/// against the table. A service checks existence and ACL of what the call names (404), then state (409, 410).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "api-client/base/json.hpp"
#include "api-client/contract/schema.hpp"

namespace ws::mock {

struct World;  // store/world.hpp: the database, ids, clock, assumptions of one sandbox

enum class Audience { user, workspace, platform_admin };

/// Who calls, as the key said at this very call. Exactly one of `user_id` (a person's key) and `agent_id` acts;
/// `owner_user_id` is the person behind either.
struct Caller {
  std::string key_id = {};
  std::string owner_user_id = {};
  std::string agent_id = {};  ///< empty: the person acts
  Audience audience = Audience::user;
  std::string workspace_id = {};  ///< of a workspace key: the one it sees; of a user key: the one /v1/me names
  std::vector<std::string> scopes = {};
  contract::Role role = contract::Role::none;      ///< in `workspace_id`, now
  contract::Role ceiling = contract::Role::owner;  ///< the most that the key grants in any Workspace
};

struct ServiceCall {
  const contract::Operation& operation;
  const Caller& caller;
  const Json& parameters;       ///< path and query by name, typed, defaults filled in
  const Json& body;             ///< validated, defaults filled in; null where the operation has none
  const std::string& base_url;  ///< "http://127.0.0.1:4711", for the few absolute addresses
};

/// What a call waits for that asked to (`wait_seconds`). The answer beside it holds if the caller waits no longer;
/// until then the same call may be served again: when `World::on_wake` names the agent or its owner, and at
/// `look_again_at`.
struct Waiting {
  std::chrono::seconds at_most{0};  ///< of the world's clock, from the first time the call was served
  std::string agent_id = {};        ///< empty: whatever agent of `owner_user_id` has work
  std::string owner_user_id = {};
  std::string workspace_id = {};                   ///< empty: agents in any
  std::optional<std::int64_t> look_again_at = {};  ///< `World::now` at which something known becomes due
};

/// `KEY=VALUE` of a switch that the answer rests on (`store/assumptions.hpp`); one for each.
inline constexpr const char* assumed_header = "X-Mock-Assumed";

/// Bytes that are no JSON, by their name in the world's `blobs`.
struct BlobBody {
  std::string blob = {};
  std::uint64_t size_bytes = 0;
  std::string media_type = {};
};

struct Answer {
  int status = 200;
  JsonBox body = {};
  std::optional<BlobBody> blob = {};  ///< in place of `body`
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::optional<Waiting> waiting = {};
};

/// A refusal as `decisions.md`, "Errors" has it: status, code, sentence, further members.
struct Refusal {
  int status = 404;
  std::string code = "not_found";
  std::string message = {};
  /// Object or null: `current_content_revision` and the like. A member `detail` (the array of a 422) stands in place of
  /// the sentence.
  JsonBox members = {};
  /// Of a 500: what broke, for the log alone. It may name SQL and paths.
  std::string cause = {};
};

/// 500 `internal_error`: the answer says no more than that; `cause` goes to the log, under the request's id.
Refusal internal_error(std::string cause);

using ServiceResult = tl::expected<Answer, Refusal>;
using Service = ServiceResult (*)(World& world, const ServiceCall& call);

/// The service of an operation; null while it has none (501 `not_implemented`). Defined in services/registry.cpp.
Service find_service(const contract::Operation& operation);

}  // namespace ws::mock
