/// Who calls, and whether they may: re-checked in the database at every call.
///
/// Keys are found by the SHA-256 of their secret. Expiry, revocation, membership, role and the agent's state are read
/// anew each time, so that what changes takes effect with the next call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api-client/contract/schema.hpp"
#include "server-mock/services/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

enum class AuthMode {
  strict,  ///< as the real service
  any,     ///< some key is needed; one that nobody knows acts as the first person, with every scope
  off,     ///< none is needed
};

class Access {
 public:
  Access(World& world, AuthMode mode) : world_(world), mode_(mode) {}

  /// The caller behind the value of an `Authorization` field; 401 otherwise. Valid until the next call.
  tl::expected<const Caller*, Refusal> identify(std::optional<std::string_view> authorization);

  /// 403, about the caller identified last: the agent is paused, the key lacks the scope, its owner the role. A `user`
  /// key's role is the one in the object's Workspace: where it could suffice, the service decides.
  std::optional<Refusal> refusal_of(const contract::Operation& operation, const Caller& caller);

 private:
  struct Known {
    Caller caller = {};
    std::string scopes_text = {};  // as the row has them: parsed again only when it differs
  };

  tl::expected<const Caller*, Refusal> find(std::string_view secret);
  tl::expected<const Caller*, Refusal> first_person();
  std::optional<Refusal> role_refusal(const contract::Operation& operation, const Caller& caller);

  World& world_;
  AuthMode mode_;
  // By secret hash. Spares parsing and allocating, not looking: every call compares with the row.
  std::unordered_map<std::string, Known> known_ = {};
  bool is_paused_ = false;  // the agent that was identified last
};

}  // namespace ws::mock
