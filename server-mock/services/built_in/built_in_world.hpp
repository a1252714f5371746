/// What a fresh world holds when nobody brought fixtures: two people, two Workspaces, a Project with branch Pages, ten
/// documents that link to each other, an agent, and a key with every scope. The same for the same seed.
#pragma once

#include <string>

#include "api-client/base/result.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// What tests and the ready file need to know of it.
struct BuiltIn {
  std::string token = {};  ///< every scope, audience workspace, of the first person
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
  seed,   ///< all of the above
  empty,  ///< one person, one empty Workspace and the key: with the same ids and token
};

/// Clears the world and fills it. Fails with `disk` where the file refuses.
Result<BuiltIn> reset(World& world, StartWith start);

/// For a world that is filled otherwise: the key with every scope, of `user_id` in `workspace_id` (fills in `token` and
/// `key_id`), and all of it kept for `find_built_in`.
Result<void> settle(World& world, BuiltIn& made);

/// What `reset` returned when this database was filled; `token` is empty where another seed made it (only its hash is
/// kept). Fails with `not_found` where the database was filled otherwise.
Result<BuiltIn> find_built_in(World& world);

}  // namespace ws::mock
