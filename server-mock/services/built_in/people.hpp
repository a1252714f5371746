/// Creates people, Workspaces and members directly, for initial content.
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// Return the new id.
Result<std::string> add_person(World& world, std::string_view email, std::string_view name);
Result<std::string> add_workspace(World& world, std::string_view name);
/// `role` as in the API: "owner".
Result<void> add_member(World& world, std::string_view workspace_id, std::string_view user_id, std::string_view role);

}  // namespace ws::mock
