#include "server-mock/control/who.hpp"

namespace ws::mock {
namespace {

Result<std::optional<std::string>> find_id(World& world, const char* sql, std::string_view word) {
  WS_LET(const sqlite::Lent row, world.database.cached(sql));
  row->bind(1, word);
  WS_LET(const bool found, row->step());
  return found ? std::optional(row->string(0)) : std::nullopt;
}

}  // namespace

Result<std::optional<std::string>> find_person(World& world, std::string_view word) {
  return find_id(world, "select id from users where id = lower(?1) or email = ?1", word);
}

Result<std::optional<FoundAgent>> find_agent(World& world, std::string_view word) {
  if (word.starts_with('@')) word.remove_prefix(1);
  WS_LET(const sqlite::Lent row,
         world.database.cached("select id, owner_user_id, workspace_id from agents where id = lower(?1) or handle = ?1 "
                               "order by status = 'revoked', id limit 1"));
  row->bind(1, word);
  WS_LET(const bool found, row->step());
  if (!found) return std::nullopt;
  return FoundAgent{.id = row->string(0), .owner_user_id = row->string(1), .workspace_id = row->string(2)};
}

Result<std::optional<std::string>> find_workspace(World& world, std::string_view word) {
  return find_id(world, "select id from workspaces where id = lower(?1) or name = ?1 order by id limit 1", word);
}

}  // namespace ws::mock
