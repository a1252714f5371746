/// The database schema; `pragma user_version` counts the applied migrations.
#pragma once

#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"

namespace ws::mock {

/// Migrates a database to the newest version, each step in a transaction. Fails with `invalid` if it is newer than this
/// program, with `disk` if the file cannot be written.
Result<void> migrate(sqlite::Database& database);

/// The version that `migrate` produces.
std::int64_t newest_version();

/// Our tables in order of creation, without the shadow tables of the text index.
Result<std::vector<std::string>> table_names(sqlite::Database& database);

}  // namespace ws::mock
