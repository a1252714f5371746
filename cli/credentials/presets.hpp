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

/// The command that requests a key like `key` with `scope` added: by a preset that contains all scopes, otherwise scope
/// by scope; in a second profile if one key cannot have so many.
ShellCommand login_with_scope(const StoredCredential& key, const std::string& scope);

}  // namespace ws::cli
