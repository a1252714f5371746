/// One statement, run to its end: how a world is written before anybody calls.
#pragma once

#include "api-client/base/result.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// `sql` is a literal (`sqlite::Database::cached`); the values are bound in their order.
template <class... Values>
Result<void> put(World& world, const char* sql, const Values&... values) {
  WS_LET(const sqlite::Lent statement, world.database.cached(sql));
  statement->bind_all(values...);
  return statement->run();
}

}  // namespace ws::mock
