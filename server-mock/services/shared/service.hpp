/// A service implements one operation, as a function of the world and the call. No HTTP types.
///
/// The pipeline has already checked credential, scope and role in the caller's Workspace, and validated the input. A
/// service first checks that the objects exist and the caller may see them (404), then their state (409, 410).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "api-client/base/json.hpp"
#include "api-client/contract/schema.hpp"

namespace ws::mock {

struct World;  // store/world.hpp

enum class Audience { user, workspace, platform_admin };

/// The authenticated caller. For a person's key `agent_id` is empty and `owner_user_id` is the person; for an agent's
/// key `owner_user_id` is the agent's owner.
struct Caller {
  std::string key_id = {};
  std::string owner_user_id = {};
  std::string agent_id = {};  ///< empty: a person's key
  Audience audience = Audience::user;
  std::string workspace_id =
      {};  ///< of a workspace key: the only one it sees; of a user key: the one that /v1/me shows
  std::vector<std::string> scopes = {};
  contract::Role role = contract::Role::none;      ///< current role in `workspace_id`
  contract::Role ceiling = contract::Role::owner;  ///< highest role that the key grants in any Workspace
};

struct ServiceCall {
  const contract::Operation& operation;
  const Caller& caller;
  const Json& parameters;                         ///< path and query parameters by name, typed, defaults filled in
  const Json& body;                               ///< validated, defaults filled in; null if the operation has none
  const std::string& base_url;                    ///< "http://127.0.0.1:4711", for absolute URLs
  std::optional<std::string_view> if_match = {};  ///< the precondition of a PUT or DELETE
};

/// The call may wait (`wait_seconds`). Its answer holds if it is not served again before the timeout; it should be
/// served again when `World::on_queue_change` names the agent or its owner, and at `retry_at`.
struct LongPoll {
  std::chrono::seconds timeout{0};  ///< by the world's clock, from the first time the call was served
  std::string agent_id = {};        ///< empty: any agent of `owner_user_id`
  std::string owner_user_id = {};
  std::string workspace_id = {};              ///< empty: agents in all Workspaces
  std::optional<std::int64_t> retry_at = {};  ///< time at which an event is known to become available
};

/// Header with `KEY=VALUE` of an assumption switch that affected the answer; one header for each switch.
inline constexpr const char* assumed_header = "X-Mock-Assumed";

/// Binary content, named as in the world's `blobs`.
struct BlobBody {
  std::string blob = {};
  std::uint64_t size_bytes = 0;
  std::string media_type = {};
};

struct Answer {
  int status = 200;
  LazyJson body = {};
  std::optional<BlobBody> blob = {};  ///< instead of `body`
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::optional<LongPoll> long_poll = {};
};

/// An error (`decisions.md`, "Errors"): status, code, message, further members.
struct ApiError {
  int status = 404;
  std::string code = "not_found";
  std::string message = {};
  /// Object or null: `current_content_revision` and the like. A member `detail` (the array of a 422) replaces the
  /// message.
  JsonBox members = {};
  /// Cause of a 500, only for the log: it may contain SQL and paths.
  std::string cause = {};
};

/// 500 `internal_error`. The response does not contain `cause`; the log does, with the request id.
ApiError internal_error(std::string cause);

using ServiceResult = tl::expected<Answer, ApiError>;
using Service = ServiceResult (*)(World& world, const ServiceCall& call);

/// The service of an operation; null if it has none (501 `not_implemented`). Defined in services/registry.cpp.
Service find_service(const contract::Operation& operation);

}  // namespace ws::mock
