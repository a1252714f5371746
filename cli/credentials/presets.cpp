#include "cli/credentials/presets.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "api-client/contract/operations.hpp"

namespace ws::cli {
namespace {

/// From `cli.md`, "Credentials".
const std::vector<Preset>& all_presets() {
  static const std::vector<Preset> all = {
      {"notes",
       {"questions:read",
        "questions:write",
        "search:read",
        "documents:read",
        "documents:write",
        "documents:share",
        "assets:read",
        "assets:write",
        "sync:read",
        "sync:write",
        "comments:read",
        "comments:write"}},
      {"read", {"questions:read", "search:read", "documents:read", "assets:read", "sync:read", "comments:read"}},
      {"sync", {"sync:read", "sync:write", "documents:read", "documents:write", "workspaces:write"}},
      {"team",
       {"sync:read",
        "sync:write",
        "documents:read",
        "documents:write",
        "assets:read",
        "assets:write",
        "comments:read",
        "comments:write",
        "search:read",
        "workspaces:write"}},
      {"worker",
       {"agent_events:read",
        "agent_events:write",
        "comments:read",
        "comments:write",
        "questions:read",
        "questions:write",
        "search:read",
        "documents:read"}},
      {"tests", {"tests:read", "tests:run"}},
      {"admin",
       {"tests:read",
        "tests:run",
        "admin_data:read",
        "admin_support:read",
        "admin_costs:read",
        "admin_content:read",
        "workspaces:write"}},
  };
  return all;
}

bool holds(const std::vector<std::string>& scopes, const std::string& scope) {
  return std::ranges::find(scopes, scope) != scopes.end();
}

/// The command without what the key may do.
ShellCommand login_at(const StoredCredential& key) {
  ShellCommand command{"ws", "login", "--base-url=", key.base_url};
  if (!key.profile.empty() && key.profile != "default") command.add({"--profile=", key.profile});
  return command;
}

bool holds_all(const Preset& preset, const std::vector<std::string>& scopes) {
  return std::ranges::all_of(scopes, [&](const std::string& one) { return holds(preset.scopes, one); });
}

ShellCommand with_scopes(ShellCommand command, const std::vector<std::string>& scopes) {
  return command.add({"--scopes=", fmt::format("{}", fmt::join(scopes, ","))});
}

}  // namespace

std::span<const Preset> presets() { return all_presets(); }

ShellCommand login_like(const StoredCredential& key) {
  // One that was made elsewhere may have more scopes than a login can ask for.
  if (key.scopes.empty() || key.scopes.size() > contract::max_scopes_per_authorization) return login_at(key);
  const auto same = std::ranges::find_if(presets(), [&](const Preset& preset) {
    return preset.scopes.size() == key.scopes.size() && holds_all(preset, key.scopes);
  });
  if (same != presets().end()) return login_at(key).add({"--for=", same->name});
  return with_scopes(login_at(key), key.scopes);
}

ShellCommand login_with_scope(const StoredCredential& key,
                              const std::string& scope,
                              const std::vector<StoredCredential>& stored) {
  StoredCredential wanted = key;
  if (!holds(wanted.scopes, scope)) wanted.scopes.push_back(scope);
  if (wanted.scopes.size() <= contract::max_scopes_per_authorization) {
    const Preset* least = nullptr;
    for (const Preset& preset : presets()) {
      const bool is_less = least == nullptr || preset.scopes.size() < least->scopes.size();
      if (is_less && holds_all(preset, wanted.scopes)) least = &preset;
    }
    return least == nullptr ? login_like(wanted) : login_at(wanted).add({"--for=", least->name});
  }
  wanted.profile = second_profile(key.profile);
  std::vector<std::string> missing;
  if (const StoredCredential* const second = find_second_key(stored, key)) missing = second->scopes;
  std::erase_if(missing, [&](const std::string& one) { return one == scope || holds(key.scopes, one); });
  missing.push_back(scope);
  return with_scopes(login_at(wanted), missing);
}

std::string free_profile(const std::vector<StoredCredential>& stored,
                         const std::string& base_url,
                         const std::string& wanted) {
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::any_of(
        stored, [&](const StoredCredential& one) { return one.profile == name && one.base_url == base_url; });
  };
  std::string name = wanted;
  for (int number = 2; is_taken(name); ++number) name = fmt::format("{}-{}", wanted, number);
  return name;
}

}  // namespace ws::cli
