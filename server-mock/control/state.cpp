#include "server-mock/control/state.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/store/schema.hpp"

namespace ws::mock {
namespace {

Result<std::vector<std::string>> kept_tables(World& world) {
  WS_LET(std::vector<std::string> tables, table_names(world.database));
  std::erase_if(tables, [](const std::string& table) { return table.starts_with("search_"); });
  std::ranges::sort(tables);
  return tables;
}

Result<std::vector<std::string>> columns_of(World& world, const std::string& table) {
  WS_LET(sqlite::Statement rows,
         world.database.prepare(fmt::format("select name from pragma_table_info('{}') order by name", table)));
  std::vector<std::string> columns;
  while (true) {
    WS_LET(const bool found, rows.step());
    if (!found) return columns;
    columns.push_back(rows.string(0));
  }
}

Result<Json> read_table(World& world, const std::string& table) {
  WS_LET(const std::vector<std::string> columns, columns_of(world, table));
  std::string members;
  for (const std::string& column : columns) {
    members += fmt::format("{0}'{1}', \"{1}\"", members.empty() ? "" : ", ", column);
  }
  WS_LET(sqlite::Statement rows,
         world.database.prepare(fmt::format("select json_object({}) from \"{}\" order by 1", members, table)));
  Json data = Json::array();
  while (true) {
    WS_LET(const bool found, rows.step());
    if (!found) return data;
    WS_LET(Json row, parse_bounded(rows.text(0)));
    data.push_back(std::move(row));
  }
}

Result<void> write_table(
    World& world, const std::string& table, const Json& rows, const Loc& loc, Complaints& complaints) {
  WS_LET(const std::vector<std::string> columns, columns_of(world, table));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    const Loc place = within(loc, i);
    if (!row.is_object()) {
      complaints.add(place, "dict_type", "A row is an object", row);
      continue;
    }
    std::string names;
    std::string values;
    for (const auto& [name, value] : row.items()) {
      if (std::ranges::find(columns, name) == columns.end()) {
        complaints.add(within(place, name), "extra_forbidden", "The table has no such column", value);
        continue;
      }
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name);
      values += fmt::format("{}json_extract(?1, '$.{}')", values.empty() ? "" : ", ", name);
    }
    if (names.empty()) {
      complaints.add(place, "A row has columns", row);
      continue;
    }
    WS_LET(sqlite::Statement insert,
           world.database.prepare(fmt::format("insert into \"{}\" ({}) select {}", table, names, values)));
    insert.bind(1, dump(row));
    if (const auto done = insert.run(); !done) complaints.add(place, done.error().what, row);
  }
  return {};
}

}  // namespace

Result<Json> read_state(World& world) {
  WS_LET(const std::vector<std::string> tables, kept_tables(world));
  Json all = Json::object();
  for (const std::string& table : tables) {
    WS_LET(Json rows, read_table(world, table));
    all[table] = std::move(rows);
  }
  return Json{{"tables", std::move(all)}};
}

Result<void> write_state(World& world, const Json& state, Complaints& complaints) {
  WS_LET(const std::vector<std::string> tables, kept_tables(world));
  const Loc loc = {std::string("body"), std::string("tables")};
  const Json* given = find(state, "tables");
  if (given == nullptr || !given->is_object()) {
    complaints.add(loc, "missing", "The state has tables: {name: [rows]}", state);
    return {};
  }
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_LET(const std::vector<std::string> all, table_names(world.database));
  for (const std::string& table : all) WS_TRY(world.database.execute("delete from " + table));
  for (const auto& [table, rows] : given->items()) {
    const Loc place = within(loc, table);
    if (std::ranges::find(tables, table) == tables.end()) {
      complaints.add(place, "extra_forbidden", "There is no such table", table);
    } else if (!rows.is_array()) {
      complaints.add(place, "list_type", "A table is a list of rows", rows);
    } else {
      WS_TRY(write_table(world, table, rows, place, complaints));
    }
  }
  if (!complaints.empty()) return {};
  WS_TRY(world.ids.load(world.database));
  WS_TRY(work.commit());
  return drop_orphans(world);
}

}  // namespace ws::mock
