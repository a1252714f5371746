/// Named sets of scopes: `ws login --for notes`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/shell_command.hpp"
#include "cli/credentials/credential_store.hpp"

namespace ws::cli {

struct Preset {
  std::string_view name;
  std::vector<std::string> scopes;
};
/// From `cli.md`, "Credentials"; the first one is the default.
std::span<const Preset> presets();

/// The command that requests a key with the server, the profile and exactly the scopes of `key`, by the preset of them
/// where there is one.
ShellCommand login_like(const StoredCredential& key);
/// The same with `scope` added, by the smallest preset that contains all, else scope by scope; for a second key, with
/// what the first one lacks alone, if one key cannot have so many. `stored`: the second key that is there may have some
/// of them.
ShellCommand login_with_scope(const StoredCredential& key,
                              const std::string& scope,
                              const std::vector<StoredCredential>& stored);
/// `wanted`, or the first of `wanted-2`, `wanted-3` ... that has no key for the base URL: a login there replaces none.
std::string free_profile(const std::vector<StoredCredential>& stored,
                         const std::string& base_url,
                         const std::string& wanted);

}  // namespace ws::cli
