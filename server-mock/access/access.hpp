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
#include "server-mock/services/shared/service.hpp"
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
  /// The database as it was: it is the same as long as neither number has changed.
  struct Moment {
    std::int64_t changes = -1;    // rows changed since it was opened
    std::uint64_t exchanges = 0;  // `World::exchanges`
    bool operator==(const Moment&) const = default;
  };
  struct Known {
    Caller caller = {};
    std::string scopes_text = {};  // as the row has them: parsed again only when it differs
    std::optional<std::int64_t> expires_at = {};
    bool is_paused = false;
    Moment read_at = {};
  };

  tl::expected<const Caller*, Refusal> find(std::string_view secret);
  Result<Moment> moment();
  tl::expected<const Caller*, Refusal> first_person();
  std::optional<Refusal> role_refusal(const contract::Operation& operation, const Caller& caller);

  World& world_;
  AuthMode mode_;
  // By secret hash. Every call looks at the row, or knows that nothing in the database has changed since it did.
  std::unordered_map<std::string, Known> known_ = {};
  bool is_paused_ = false;  // the agent that was identified last
};

}  // namespace ws::mock
