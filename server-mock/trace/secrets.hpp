/// Keeps secrets out of traces: keys, device and user codes, lease tokens and the secrets of upload URLs.
///
/// A world with the same seed issues the same secrets, so a secret is written as its kind and number, and a replay
/// inserts its own. For other secrets (what they are, the contract says) a stand-in is written, for a fixed key of the
/// fixtures too: the replayed world has that one.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/store/ids.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock::trace {

class SecretNames {
 public:
  SecretNames(std::uint64_t seed, std::string control_token) : seed_(seed), control_token_(std::move(control_token)) {}

  /// Reads the secrets that the world has issued.
  Result<void> learn(World& world);
  /// Replaces each secret that was issued by its name, and every other text of the form of a key.
  std::string hide(std::string_view text);
  /// The same for the head of a request, and for the body of one to the API: of what cannot be read, all is replaced.
  std::string hide_head(std::string_view head);
  std::string hide_body(std::string_view body, bool is_form);
  /// Replaces the fixed secrets of fixtures, and the hashes of such secrets in the rows of the table `keys`.
  void hide_fixed(Json& fixtures);
  void hide_hashes(Json& keys) const;
  /// The number of secrets that a trace may name.
  void set_limit(std::uint64_t limit) { limit_ = limit; }
  /// Fails with `invalid` if the text names more secrets than the limit.
  Result<void> check(std::string_view text);
  /// Replaces each name by its secret. Fails as `check`, and if the text becomes too long.
  Result<std::string> reveal(std::string_view text);

 private:
  struct Name;
  static std::optional<Name> name_at(std::string_view text);
  std::string hide_issued(std::string_view text) const;
  std::string stand_in(std::string_view secret);
  void make(const std::string& kind_and_scope, std::uint64_t count);
  Result<void> make_up_to(const Name& name);

  std::uint64_t seed_;
  std::string control_token_;
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t count_ = 0;                            // of all codes
  std::map<std::string, Ids, std::less<>> made_ = {};  // by scope: the id of a sandbox
  // By kind and scope ("token@s1"), in the order of issue.
  std::map<std::string, std::vector<std::string>, std::less<>> codes_ = {};
  std::map<std::string, std::string, std::less<>> names_ = {};      // by code
  std::map<std::string, std::string, std::less<>> stand_ins_ = {};  // by secret
};

}  // namespace ws::mock::trace
