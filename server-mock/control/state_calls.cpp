// Control calls for the whole state: reset, snapshots, all tables as JSON.
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/operations/fields.hpp"
#include "server-mock/control/calls.hpp"
#include "server-mock/services/shared/errors.hpp"
#include "server-mock/store/schema.hpp"

namespace ws::mock::control {
namespace {

using contract::optional;

constexpr contract::Field reset_fields[] = {optional("to", contract::string(1, 100))};
constexpr contract::Schema reset_body = {.name = "Reset", .fields = reset_fields};

constexpr contract::Field snapshot_fields[] = {contract::required("name", contract::string())};
constexpr contract::Schema snapshot_body = {.name = "NewSnapshot", .fields = snapshot_fields};

constexpr contract::Field state_fields[] = {
    optional("assumptions", contract::free_object()),
    optional("clock", contract::string(1, 100)),
    contract::required("tables", contract::free_object()),
    optional("v", contract::integer(1, 1)),
};
constexpr contract::Schema state_body = {.name = "State", .fields = state_fields};

void bind(sqlite::Statement& statement, int place, const Json& value) {
  if (value.is_null()) return statement.bind(place, nullptr);
  if (value.is_string()) return statement.bind(place, value.get_ref<const std::string&>());
  statement.bind(place, value.get<std::int64_t>());
}

/// What SQLite refuses, without the statement and its values.
std::string refusal(std::string_view said) {
  constexpr std::string_view unique = "UNIQUE constraint failed: ";
  const std::size_t at = said.find(unique);
  if (at == std::string_view::npos) return "The database refuses the row";
  return fmt::format("Another row has the same {}", said.substr(at + unique.size()));
}

/// Rows that passed `check_state_tables`; what SQLite refuses still (two rows with one key) is an error of the row.
Result<void> write_table(
    World& world, const std::string& table, const Json& rows, const Loc& loc, ValidationErrors& errors) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string names;
    std::string values;
    for (const auto& [name, value] : rows[i].items()) {
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name);
      values += values.empty() ? "?" : ", ?";
    }
    WS_LET(sqlite::Statement insert,
           world.database.prepare(fmt::format("insert into \"{}\" ({}) values ({})", table, names, values)));
    int place = 0;
    // By their type, not through SQLite's JSON functions: those end a text at its first U+0000.
    for (const Json& value : rows[i]) bind(insert, ++place, value);
    if (const auto done = insert.run(); !done) errors.add(within(loc, i), refusal(done.error().what), rows[i]);
  }
  return {};
}

/// Replaces all rows; a table that is not named becomes empty. With an error nothing changes.
Result<void> write_state(World& world, const Json& state, ValidationErrors& errors) {
  const Loc loc = {std::string("body"), std::string("tables")};
  const Json* given = find(state, "tables");
  if (given == nullptr) {
    errors.add(loc, "missing", "The state has tables: {name: [rows]}", state);
    return {};
  }
  const Json& tables = *given;
  WS_TRY(check_state_tables(world, tables, loc, errors));
  if (!errors.empty()) return {};
  WS_LET(UnitOfWork work, UnitOfWork::begin(world));
  WS_LET(const std::vector<std::string> all, table_names(world.database));
  for (const std::string& table : all) WS_TRY(world.database.execute("delete from " + table));
  for (const auto& [table, rows] : tables.items()) {
    WS_TRY(write_table(world, table, rows, within(loc, table), errors));
  }
  Ids ids = world.ids;
  WS_TRY(ids.load(world.database));
  check_id_counters(tables, ids, loc, errors);
  if (!errors.empty()) return {};
  world.ids = std::move(ids);
  WS_TRY(work.commit());
  return drop_orphans(world);
}

constexpr std::size_t longest_name = 100;

/// Excludes "seed" and "empty", which `reset` reserves.
bool is_name(std::string_view text) {
  const auto fits = [](char c) { return c > ' ' && c != '/' && c != ':' && c != 0x7F; };
  return !text.empty() && text.size() <= longest_name && text != "seed" && text != "empty" &&
         std::ranges::all_of(text, fits);
}

Unexpected no_name(std::string_view text) {
  return invalid("body",
                 "name",
                 "value_error",
                 "A name of 1 to 100 characters without blanks, slashes and colons; not seed, not empty",
                 text);
}

ServiceResult take(Call& call, const std::string& name) {
  Sandbox& sandbox = call.sandbox;
  if (!is_name(name)) return no_name(name);
  WS_API_TRY(sandbox.snapshots.take(*sandbox.world, sandbox.clock, sandbox.built_in, name));
  return Answer{.status = 201, .body = sandbox.snapshots.read(name)};
}

Answer restored(const Sandbox& sandbox, std::string_view name) {
  Json body = clock_of(sandbox);
  body["name"] = name;
  body["token"] = sandbox.built_in.token;
  return Answer{.body = std::move(body)};
}

/// `{to: "seed" | "empty" | NAME}`, NAME of a snapshot.
ServiceResult reset(Call& call) {
  const std::string to = find_text(call.body, "to").value_or("seed");
  if (to == "seed" || to == "empty") {
    WS_API_TRY(call.sandbox.reset(to == "seed" ? StartWith::seed : StartWith::empty));
  } else {
    WS_API_LET(const bool found, call.sandbox.reset(to));
    if (!found) {
      return invalid("body", "to", "value_error", "to is seed, empty or the name of a snapshot", to);
    }
  }
  return Answer{.body = Json{{"to", to}, {"token", call.sandbox.built_in.token}}};
}

Unexpected no_such_snapshot(const Call& call) {
  std::vector<std::string> names;
  for (const Json& one : call.sandbox.snapshots.read()) names.push_back(one.at("name"));
  return refuse(ApiError{
      .status = 404, .code = "not_found", .message = no_such("snapshot", http::value_of(call.path, "name"), names)});
}

ServiceResult get_snapshots(Call& call) { return Answer{.body = Json{{"data", call.sandbox.snapshots.read()}}}; }

ServiceResult get_snapshot(Call& call) {
  Json snapshot = call.sandbox.snapshots.read(http::value_of(call.path, "name"));
  if (snapshot.is_null()) return no_such_snapshot(call);
  return Answer{.body = std::move(snapshot)};
}

/// `{name}`, or the name in the path. Replaces a snapshot of that name.
ServiceResult take_snapshot(Call& call) { return take(call, find_text(call.body, "name").value_or("")); }

ServiceResult take_named_snapshot(Call& call) { return take(call, std::string(http::value_of(call.path, "name"))); }

ServiceResult restore_snapshot(Call& call) {
  const std::string_view name = http::value_of(call.path, "name");
  WS_API_LET(const bool found, call.sandbox.restore(name));
  if (!found) return no_such_snapshot(call);
  return restored(call.sandbox, name);
}

ServiceResult delete_snapshots(Call& call) {
  call.sandbox.snapshots.clear(*call.sandbox.world);
  return Answer{.status = 204};
}

ServiceResult delete_snapshot(Call& call) {
  if (!call.sandbox.snapshots.remove(*call.sandbox.world, http::value_of(call.path, "name"))) {
    return no_such_snapshot(call);
  }
  return Answer{.status = 204};
}

/// `{assumptions, clock, tables, v}`; omits the bytes of assets.
ServiceResult get_state(Call& call) {
  WS_API_LET(Json state, call.sandbox.read_state());
  state["v"] = 1;
  return Answer{.body = std::move(state)};
}

ServiceResult put_state(Call& call) {
  ValidationErrors errors;
  Assumptions assumptions = call.sandbox.world->assumptions;
  MockClock clock = call.sandbox.clock;
  if (const auto text = find_text(call.body, "clock")) {
    const auto parsed = MockClock::parse(*text);
    if (parsed) clock = *parsed;
    if (!parsed) errors.add({std::string("body"), std::string("clock")}, parsed.error().what, *text);
  }
  if (const Json* switches = find(call.body, "assumptions"); switches != nullptr && switches->is_object()) {
    for (const auto& [key, value] : switches->items()) {
      const auto set = assumptions.set(key, value.is_string() ? value.get<std::string>() : dump(value));
      if (!set) errors.add({std::string("body"), std::string("assumptions"), key}, set.error().what, value);
    }
  }
  WS_API_TRY(write_state(*call.sandbox.world, call.body, errors));
  if (!errors.empty()) return tl::unexpected(errors.api_error());
  call.sandbox.world->assumptions = std::move(assumptions);
  call.sandbox.clock = clock;
  call.sandbox.pending_claims.end_all();
  if (auto built_in = find_built_in(*call.sandbox.world)) call.sandbox.built_in = std::move(*built_in);
  return get_state(call);
}

}  // namespace

CallTable state_calls() {
  static constexpr CallEntry entries[] = {
      {"POST",
       "/_mock/reset",
       "reset state, journal, faults, clock and switches: as at the start, empty, or from a snapshot",
       reset,
       members(reset_body)},
      {"GET", "/_mock/snapshots", "the snapshots", get_snapshots, nothing},
      {"POST", "/_mock/snapshots", "take a snapshot", take_snapshot, members(snapshot_body)},
      {"DELETE", "/_mock/snapshots", "delete all snapshots", delete_snapshots, nothing},
      {"GET", "/_mock/snapshots/{name}", "one snapshot", get_snapshot, nothing},
      {"POST", "/_mock/snapshots/{name}", "take a snapshot of this name", take_named_snapshot, nothing},
      {"PUT", "/_mock/snapshots/{name}", "take a snapshot of this name", take_named_snapshot, nothing},
      {"DELETE", "/_mock/snapshots/{name}", "delete a snapshot", delete_snapshot, nothing},
      {"POST",
       "/_mock/snapshots/{name}:restore",
       "go back to a snapshot: state, clock and switches; the journal, faults and the rate limit stay as they are "
       "(reset puts them back, too)",
       restore_snapshot,
       nothing},
      {"GET", "/_mock/state", "the whole state as sorted JSON", get_state, nothing},
      {"PUT", "/_mock/state", "replace the whole state", put_state, members(state_body)},
  };
  return entries;
}

}  // namespace ws::mock::control
