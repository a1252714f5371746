/// Keeps secrets out of traces: keys, device and user codes, lease tokens and the secrets of upload URLs.
///
/// A world with the same seed issues the same secrets, so a secret is written as its kind and number, and a replay
/// inserts its own. Keys that the world did not issue are replaced by a key that no world knows.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/store/ids.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock::trace {

class SecretNames {
 public:
  SecretNames(std::uint64_t seed, std::string control_token) : seed_(seed), control_token_(std::move(control_token)) {}

  /// Reads the secrets that the world has issued.
  Result<void> learn(World& world);
  /// Replaces each known secret by its name.
  std::string hide(std::string_view text) const;
  /// The same for the head of a request, where unknown credentials, and values of headers that may hold one, are
  /// replaced too.
  std::string hide_head(std::string_view head) const;
  /// The number of secrets that a trace may name.
  void set_limit(std::uint64_t limit) { limit_ = limit; }
  /// Fails with `invalid` if the text names more secrets than the limit.
  Result<void> check(std::string_view text);
  /// Replaces each name by its secret. Fails as `check`, and if the text becomes too long.
  Result<std::string> reveal(std::string_view text);

 private:
  struct Name;
  static std::optional<Name> name_at(std::string_view text);
  void make(const std::string& kind_and_scope, std::uint64_t count);
  Result<void> make_up_to(const Name& name);

  std::uint64_t seed_;
  std::string control_token_;
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t count_ = 0;                            // of all codes
  std::map<std::string, Ids, std::less<>> made_ = {};  // by scope: the id of a sandbox
  // By kind and scope ("token@s1"), in the order of issue.
  std::map<std::string, std::vector<std::string>, std::less<>> codes_ = {};
  std::map<std::string, std::string, std::less<>> names_ = {};  // by code
};

}  // namespace ws::mock::trace
