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

}  // namespace

std::span<const Preset> presets() { return all_presets(); }

ShellCommand login_with_scope(const StoredCredential& key, const std::string& scope) {
  ShellCommand command{"ws", "login", "--base-url=", key.base_url};
  std::vector<std::string> wanted = key.scopes;
  if (!holds(wanted, scope)) wanted.push_back(scope);
  if (wanted.size() > contract::max_scopes_per_authorization) {
    return command.add({"--profile=", key.profile + "-2", "--scopes=", scope});
  }
  if (!key.profile.empty() && key.profile != "default") command.add({"--profile=", key.profile});
  const Preset* least = nullptr;
  for (const Preset& preset : presets()) {
    const bool fits = std::ranges::all_of(wanted, [&](const std::string& one) { return holds(preset.scopes, one); });
    if (fits && (least == nullptr || preset.scopes.size() < least->scopes.size())) least = &preset;
  }
  return least != nullptr ? command.add({"--for=", least->name})
                          : command.add({"--scopes=", fmt::format("{}", fmt::join(wanted, ","))});
}

}  // namespace ws::cli
