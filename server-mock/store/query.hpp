/// Runs one SQL statement: the text is a string literal (`sqlite::Database::cached`), the values are bound in order.
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "server-mock/store/world.hpp"

namespace ws::mock {

/// For statements without a result.
template <class... Values>
Result<void> put(World& world, const char* sql, const Values&... values) {
  WS_LET(const sqlite::CachedStatement statement, world.database.cached(sql));
  statement->borrow_all(values...);
  return statement->run();
}

/// The first row, as `read` returns it; empty if there is none.
template <class Read, class... Values>
auto read_row(World& world, Read read, const char* sql, const Values&... values)
    -> Result<std::optional<std::invoke_result_t<Read, const sqlite::Statement&>>> {
  WS_LET(const sqlite::CachedStatement row, world.database.cached(sql));
  row->borrow_all(values...);
  WS_LET(const bool found, row->step());
  if (!found) return std::nullopt;
  return read(*row);
}

/// The number that a query like `select count(*)` always returns.
template <class... Values>
Result<std::int64_t> read_number(World& world, const char* sql, const Values&... values) {
  WS_LET(const sqlite::CachedStatement row, world.database.cached(sql));
  row->borrow_all(values...);
  WS_TRY(row->step());
  return row->integer(0);
}

/// All rows, as `read` returns them.
template <class Read, class... Values>
auto read_rows(World& world, Read read, const char* sql, const Values&... values)
    -> Result<std::vector<std::invoke_result_t<Read, const sqlite::Statement&>>> {
  WS_LET(const sqlite::CachedStatement rows, world.database.cached(sql));
  rows->borrow_all(values...);
  std::vector<std::invoke_result_t<Read, const sqlite::Statement&>> all;
  while (true) {
    WS_LET(const bool found, rows->step());
    if (!found) return all;
    all.push_back(read(*rows));
  }
}

/// Whether the query has a row.
template <class... Values>
Result<bool> has_row(World& world, const char* sql, const Values&... values) {
  WS_LET(const sqlite::CachedStatement row, world.database.cached(sql));
  row->borrow_all(values...);
  return row->step();
}

/// A column; converts to the type of the member that it initializes.
struct Column {
  const sqlite::Statement& row;
  int place;
  operator std::string() { return row.string(place); }
  operator std::int64_t() { return row.integer(place); }
  operator bool() { return row.integer(place) != 0; }
  operator std::optional<std::string>() { return row.optional_string(place); }
  operator std::optional<std::int64_t>() { return row.optional_integer(place); }
};

/// The row as a struct: the first columns are its members, in the same order.
template <class Row, int... places>
Row read_as(const sqlite::Statement& row) {
  constexpr int next = sizeof...(places);
  if constexpr (requires { Row{Column{row, places}..., Column{row, next}}; }) {
    return read_as<Row, places..., next>(row);
  } else {
    return Row{Column{row, places}...};
  }
}

/// Read a row with one column.
inline std::string read_text(const sqlite::Statement& row) { return row.string(0); }
inline std::int64_t read_integer(const sqlite::Statement& row) { return row.integer(0); }

}  // namespace ws::mock
