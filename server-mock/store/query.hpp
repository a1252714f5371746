/// Runs one SQL statement: the text is a string literal (`sqlite::Database::cached`), the values are bound in order.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/pfr/core.hpp>

#include "api-client/base/json.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// For statements without a result.
template <class... Values>
Result<void> put(World& world, const char* sql, const Values&... values) {
  WS_LET(const sqlite::CachedStatement statement, world.database.cached(sql));
  statement->borrow_all(values...);
  return statement->run();
}

/// What `read` makes of a row: a value, or a `Result` of one.
template <class Read>
struct ReadValue {
  using Made = std::invoke_result_t<Read, const sqlite::Statement&>;
  template <class T>
  static T of(const Result<T>& made);
  template <class T>
  static T of(const T& made);
  using Type = decltype(of(std::declval<const Made&>()));
};

/// The next row of a statement, as `read` returns it; empty if there is none.
template <class Read>
Result<std::optional<typename ReadValue<Read>::Type>> read_next(sqlite::Statement& rows, Read read) {
  WS_LET(const bool found, rows.step());
  if (!found) return std::nullopt;
  if constexpr (std::is_same_v<typename ReadValue<Read>::Made, typename ReadValue<Read>::Type>) {
    return read(rows);
  } else {
    WS_LET(auto made, read(rows));
    return made;
  }
}

/// The rows of a statement that are left.
template <class Read>
Result<std::vector<typename ReadValue<Read>::Type>> read_all(sqlite::Statement& rows, Read read) {
  std::vector<typename ReadValue<Read>::Type> all;
  while (true) {
    WS_LET(auto row, read_next(rows, read));
    if (!row) return all;
    all.push_back(std::move(*row));
  }
}

/// The first row; empty if there is none.
template <class Read, class... Values>
Result<std::optional<typename ReadValue<Read>::Type>> read_row(World& world,
                                                               Read read,
                                                               const char* sql,
                                                               const Values&... values) {
  WS_LET(const sqlite::CachedStatement row, world.database.cached(sql));
  row->borrow_all(values...);
  return read_next(*row, read);
}

/// All rows.
template <class Read, class... Values>
Result<std::vector<typename ReadValue<Read>::Type>> read_rows(World& world,
                                                              Read read,
                                                              const char* sql,
                                                              const Values&... values) {
  WS_LET(const sqlite::CachedStatement rows, world.database.cached(sql));
  rows->borrow_all(values...);
  return read_all(*rows, read);
}

/// The number that a query like `select count(*)` always returns.
template <class... Values>
Result<std::int64_t> read_number(World& world, const char* sql, const Values&... values) {
  WS_LET(const sqlite::CachedStatement row, world.database.cached(sql));
  row->borrow_all(values...);
  WS_TRY(row->step());
  return row->integer(0);
}

/// Whether the query has a row.
template <class... Values>
Result<bool> has_row(World& world, const char* sql, const Values&... values) {
  WS_LET(const sqlite::CachedStatement row, world.database.cached(sql));
  row->borrow_all(values...);
  return row->step();
}

/// Goes over the columns of a row, or the values of a statement, one for each member of a struct and of those within.
struct Columns {
  int place = 0;

  void read(const sqlite::Statement& row, std::string& into) { into = row.text(place++); }
  void read(const sqlite::Statement& row, std::int64_t& into) { into = row.integer(place++); }
  void read(const sqlite::Statement& row, std::size_t& into) { into = static_cast<std::size_t>(row.integer(place++)); }
  void read(const sqlite::Statement& row, bool& into) { into = row.integer(place++) != 0; }
  void read(const sqlite::Statement& row, std::optional<std::string>& into) { into = row.optional_string(place++); }
  void read(const sqlite::Statement& row, std::optional<std::int64_t>& into) { into = row.optional_integer(place++); }
  void read(const sqlite::Statement& row, JsonBox& into);
  void read(const sqlite::Statement& row, std::vector<std::string>& into);  ///< a JSON list
  template <class Row>
  void read(const sqlite::Statement& row, Row& into) {
    boost::pfr::for_each_field(into, [&](auto& member) { read(row, member); });
  }

  void bind(sqlite::Statement& statement, const JsonBox& value);
  void bind(sqlite::Statement& statement, const std::vector<std::string>& value);
  template <class Value>
  void bind(sqlite::Statement& statement, const Value& value) {
    if constexpr (requires { statement.bind(place, value); }) {
      statement.bind(++place, value);
    } else {
      boost::pfr::for_each_field(value, [&](const auto& member) { bind(statement, member); });
    }
  }
};

/// The row as a struct: the first columns are its members, in the same order.
template <class Row>
Row read_as(const sqlite::Statement& row) {
  Row made;
  Columns().read(row, made);
  return made;
}

/// Runs a statement whose first values are the members of `row`.
template <class Row, class... Values>
Result<void> put_row(World& world, const char* sql, const Row& row, const Values&... more) {
  WS_LET(const sqlite::CachedStatement statement, world.database.cached(sql));
  Columns columns;
  columns.bind(*statement, row);
  (columns.bind(*statement, more), ...);
  return statement->run();
}

/// Read a row with one column.
inline std::string read_text(const sqlite::Statement& row) { return row.string(0); }
inline std::int64_t read_integer(const sqlite::Statement& row) { return row.integer(0); }

}  // namespace ws::mock
