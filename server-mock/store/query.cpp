#include "server-mock/store/query.hpp"

#include <nlohmann/json.hpp>

namespace ws::mock {

// Only what this program wrote is in these columns: one that is not JSON is a bug, and an exception.
void Columns::read(const sqlite::Statement& row, JsonBox& into) { into = parse_bounded(row.text(place++)).value(); }

void Columns::read(const sqlite::Statement& row, std::vector<std::string>& into) {
  JsonBox list;
  read(row, list);
  into = list->get<std::vector<std::string>>();
}

void Columns::bind(sqlite::Statement& statement, const JsonBox& value) { statement.bind(++place, dump(*value)); }

void Columns::bind(sqlite::Statement& statement, const std::vector<std::string>& value) {
  statement.bind(++place, dump(Json(value)));
}

}  // namespace ws::mock
