/// Whose the keys are that this user has used: one file for each under `$XDG_STATE_HOME/ws/accounts/`, so that the
/// service is asked once. No key is in it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "sync-engine/binding/tree_binding.hpp"

namespace ws::cli {

class KnownAccounts {
 public:
  /// `state` is `Paths::state`.
  explicit KnownAccounts(const std::filesystem::path& state) : folder_(state / "accounts") {}

  /// `key`: the id of a stored key, or the SHA-256 of one that came by the environment.
  std::optional<sync::Account> find(std::string_view key) const;
  /// Fails with `disk`.
  Result<void> keep(std::string_view key, const sync::Account& account) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ws::cli
