/// Responses stored for 24 hours under an `Idempotency-Key` (`decisions.md`, "Idempotency").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/services/shared/errors.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// Keys are scoped to the owner of the credential and compared as bytes.
struct IdempotencyKey {
  std::string owner = {};
  std::string key = {};
  std::string fingerprint = {};  ///< of method, path and canonical body
};

IdempotencyKey make_idempotency_key(
    const Caller& caller, std::string_view key, std::string_view method, std::string_view path, const Json& body);

struct StoredResponse {
  std::string fingerprint = {};
  Answer answer = {};
};
/// Empty if there is none, or it has expired.
Result<std::optional<StoredResponse>> find_stored_response(World& world, const IdempotencyKey& key);
/// Call it in the transaction of the changes that the response reports.
Result<void> store_response(World& world, const IdempotencyKey& key, const Answer& answer);

/// 404 if the caller may not see now what a stored response shows: its object, in its Workspace, and what it cites.
ApiResult<void> require_shown(World& world, const ServiceCall& call, const Json& body);

/// The owner of a caller's idempotency keys.
std::string idempotency_owner(const Caller& caller);
/// 409: the first request with this key is still in progress.
ApiError key_in_flight();
/// 422: the key was used with another request.
ApiError key_reused(std::string_view key);

}  // namespace ws::mock
