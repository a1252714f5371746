/// What a key may do, by a word: `ws login --for notes`.
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
/// `cli.md`, "Credentials"; the first is the one that is meant where none is named.
std::span<const Preset> presets();

/// "a,b,c".
std::string joined_with_commas(std::span<const std::string> words);

/// The command that gets a key like `key`, with `scope` too: by a preset that holds all of them, else scope by scope;
/// a second profile where one key cannot have so many.
ShellCommand login_with_scope(const StoredCredential& key, const std::string& scope);

}  // namespace ws::cli
