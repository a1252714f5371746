/// Answers kept for 24 hours under an `Idempotency-Key`, to be given again (`decisions.md`, "Idempotency").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// A key belongs to whom the credential belongs to, and is compared as bytes.
struct IdempotencyKey {
  std::string owner = {};
  std::string key = {};
  std::string fingerprint = {};  ///< of method, path and canonical body
};

IdempotencyKey make_idempotency_key(
    const Caller& caller, std::string_view key, std::string_view method, std::string_view path, const Json& body);

struct KeptAnswer {
  std::string fingerprint = {};
  Answer answer = {};
};
/// Empty where there is none, or it is too old.
Result<std::optional<KeptAnswer>> find_kept_answer(World& world, const IdempotencyKey& key);
/// Belongs into the transaction of what it tells of.
Result<void> keep_answer(World& world, const IdempotencyKey& key, const Answer& answer);

/// Whose keys a caller's are: the first half of what a record is found by.
std::string idempotency_owner(const Caller& caller);
/// 409: the first call with this key has not been answered yet.
Refusal key_in_flight();
/// 422: the key was used for something else.
Refusal key_reused(std::string_view key);

}  // namespace ws::mock
