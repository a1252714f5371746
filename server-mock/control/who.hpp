/// People, agents and Workspaces by the words that a person has for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// By id or email; empty where there is none.
Result<std::optional<std::string>> find_person(World& world, std::string_view word);

struct FoundAgent {
  std::string id = {};
  std::string owner_user_id = {};
  std::string workspace_id = {};
};
/// By id or handle, with or without its @. Of two Workspaces' agents with one handle the older.
Result<std::optional<FoundAgent>> find_agent(World& world, std::string_view word);

/// By id or name; of two with one name the older.
Result<std::optional<std::string>> find_workspace(World& world, std::string_view word);

}  // namespace ws::mock
