/// The tables of a world, versioned: `pragma user_version` counts the migrations that a file has seen.
#pragma once

#include <string>
#include <vector>

#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"

namespace ws::mock {

/// Brings a database to the newest version, each step in one transaction. Fails with `invalid` where it is newer than
/// this program, with `disk` where the file refuses.
Result<void> migrate(sqlite::Database& database);

/// The version to which `migrate` brings a file.
std::int64_t newest_version();

/// Every table of ours, in the order in which they were made; not those in which SQLite keeps a text index.
Result<std::vector<std::string>> table_names(sqlite::Database& database);

}  // namespace ws::mock
