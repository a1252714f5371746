#include "server-mock/services/built_in/people.hpp"

#include "server-mock/store/query.hpp"

namespace ws::mock {
Result<std::string> add_person(World& world, std::string_view email, std::string_view name) {
  std::string id = world.ids.uuid("user");
  WS_TRY(put(world,
             "insert into users (id, email, display_name, created_at) values (?, ?, ?, ?)",
             id,
             email,
             name,
             world.now()));
  return id;
}

Result<std::string> add_workspace(World& world, std::string_view name) {
  std::string id = world.ids.uuid("workspace");
  WS_TRY(put(world,
             "insert into workspaces (id, name, created_at, updated_at) values (?, ?, ?, ?)",
             id,
             name,
             world.now(),
             world.now()));
  return id;
}

Result<void> add_member(World& world, std::string_view workspace_id, std::string_view user_id, std::string_view role) {
  return put(world,
             "insert into members (workspace_id, user_id, role, created_at) values (?, ?, ?, ?)",
             workspace_id,
             user_id,
             role,
             world.now());
}

}  // namespace ws::mock
