/// The default content of a world: two people, two Workspaces, a Project with branch Pages, ten documents that link to
/// each other, an agent, and a key with every scope. The same for the same seed.
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// Create people, Workspaces and members directly, for initial content; return the new id.
Result<std::string> add_person(World& world, std::string_view email, std::string_view name);
Result<std::string> add_workspace(World& world, std::string_view name);
/// `role` as in the API: "owner".
Result<void> add_member(World& world, std::string_view workspace_id, std::string_view user_id, std::string_view role);

/// The ids that tests and the ready file need.
struct BuiltIn {
  std::string token = {};  ///< of the first person, audience workspace, every scope
  std::string key_id = {};
  std::string user_id = {};        ///< Mara, owner of the first Workspace
  std::string other_user_id = {};  ///< Tomás: editor of the first, owner of the second
  std::string workspace_id = {};
  std::string other_workspace_id = {};
  std::string project_id = {};  ///< in the first Workspace
  std::string project_node_id = {};
  std::string agent_id = {};
};

enum class StartWith {
  seed,   ///< the content above
  empty,  ///< one person, one empty Workspace and the key, with the same ids and token
};

/// Clears the world and fills it. Fails with `disk` if the file cannot be written.
Result<BuiltIn> reset(World& world, StartWith start);

/// For a world with other content: creates the key with every scope for `user_id` in `workspace_id` (sets `token` and
/// `key_id`), and stores `made` for `find_built_in`.
Result<void> settle(World& world, BuiltIn& made);

/// Gives the key with every scope the secret that this world would have issued for it: after a copy.
Result<void> renew_token(World& world, BuiltIn& made);

/// What `reset` returned when this database was filled. `token` is empty if it was made with another seed, since only
/// its hash is stored. Fails with `not_found` if the database was filled otherwise.
Result<BuiltIn> find_built_in(World& world);

}  // namespace ws::mock
