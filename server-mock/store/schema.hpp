/// The database schema; `pragma user_version` counts the applied migrations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/json.hpp"
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
/// Those that hold the state, sorted: without the search index, which is made of the documents.
Result<std::vector<std::string>> state_tables(sqlite::Database& database);
/// The columns of a table, sorted.
Result<std::vector<std::string>> column_names(const sqlite::Database& database, std::string_view table);
struct TableColumn {
  std::string name = {};
  bool is_integer = false;
  bool may_be_null = false;
  bool is_required = false;  ///< an insert must name it
};
/// The same with what SQLite knows of them.
Result<std::vector<TableColumn>> columns_of(const sqlite::Database& database, std::string_view table);
/// The SQL expression for a row as JSON: `json_object('id', new."id", ...)`; `row` is "new.", "old." or empty.
Result<std::string> row_as_json(const sqlite::Database& database, std::string_view table, std::string_view row);
/// `{table: [{column: value, ...}, ...]}`: the rows of all state tables, sorted.
Result<Json> read_tables(sqlite::Database& database);

}  // namespace ws::mock
