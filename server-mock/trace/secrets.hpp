/// Keeps secrets out of traces: keys, device codes, lease tokens and the secrets of upload URLs.
///
/// A world with the same seed issues the same secrets, so a secret is written as its kind and number, and a replay
/// inserts its own. Keys that the world did not issue are replaced by a key that no world knows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/store/ids.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock::trace {

class SecretNames {
 public:
  SecretNames(std::uint64_t seed, std::string control_token) : made_(seed), control_token_(std::move(control_token)) {}

  /// Reads the secrets that the world has issued.
  Result<void> learn(World& world);
  /// Replaces each known secret by its name.
  std::string hide(std::string_view text) const;
  /// The same for the head of a request, where unknown credentials and cookies are replaced too.
  std::string hide_head(std::string_view head) const;
  /// Replaces each name by its secret.
  std::string reveal(std::string_view text);

 private:
  void make(std::string_view kind, std::uint64_t count);

  Ids made_;
  std::string control_token_;
  std::map<std::string, std::vector<std::string>, std::less<>> codes_ = {};  // by kind, in the order of issue
  std::map<std::string, std::string, std::less<>> names_ = {};               // by code
};

}  // namespace ws::mock::trace
