/// Authentication and authorization: identifies the caller of a request and checks scope and role.
///
/// Keys are looked up by the SHA-256 of their secret. Expiry, revocation, membership, role and the agent's state take
/// effect at once: what is known of a key is read again when one of its tables was written.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "api-client/contract/schema.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

enum class AuthMode {
  strict,  ///< as the real service
  any,     ///< any key is accepted; an unknown one acts as the first person with every scope
  off,     ///< no key is needed
};

class Access {
 public:
  Access(World& world, AuthMode mode) : world_(world), mode_(mode) {}

  /// The caller for the value of an `Authorization` header; 401 otherwise. Valid until the next call.
  tl::expected<const Caller*, ApiError> identify(std::optional<std::string_view> authorization);

  /// 403 for the caller identified last: its agent is paused, the key lacks the scope, or the owner lacks the role. For
  /// a `user` key the role depends on the Workspace of the object: if it might suffice, the service checks it.
  std::optional<ApiError> authorization_error(const contract::Operation& operation, const Caller& caller);

 private:
  struct KnownKey {
    Caller caller = {};
    std::optional<std::int64_t> expires_at = {};
    bool is_paused = false;
    std::pair<std::uint64_t, std::uint64_t> read_at = {};  // `World::callers_version`
  };

  tl::expected<const Caller*, ApiError> find(std::string_view secret);
  tl::expected<const Caller*, ApiError> first_person();
  std::optional<ApiError> role_error(const contract::Operation& operation, const Caller& caller);

  World& world_;
  AuthMode mode_;
  // By secret. An entry is used only if no table that it was read from has changed since.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, KnownKey, Hash, std::equal_to<>> known_ = {};
  bool is_paused_ = false;  // of the agent identified last
};

}  // namespace ws::mock
