#include "server-mock/trace/changes.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/sha256.hpp"
#include "server-mock/store/schema.hpp"

namespace ws::mock::trace {
namespace {

constexpr std::size_t hash_digits = 16;

std::string hash_of(std::string_view text) { return Sha256::of(text).hex().substr(0, hash_digits); }

Result<void> add_triggers(World& world, const std::string& table) {
  WS_LET(std::string after, row_as_json(world.database, table, "new."));
  WS_LET(std::string before, row_as_json(world.database, table, "old."));
  for (std::string* row : {&after, &before}) {
    if (table == "keys") *row = fmt::format("json_remove({}, '$.secret_sha256', '$.display_prefix')", *row);
  }
  const auto add = [&](std::string_view event, std::string_view old_row, std::string_view new_row) {
    return world.database.execute(
        fmt::format("create temp trigger trace_{0}_{1} after {0} on main.\"{1}\" begin insert into trace_changes "
                    "(name, before, after) values ('{1}', {2}, {3}); end",
                    event,
                    table,
                    old_row,
                    new_row));
  };
  WS_TRY(add("insert", "null", after));
  WS_TRY(add("update", before, after));
  return add("delete", before, "null");
}

/// The members that differ between two versions of a row, and those that identify it.
Json only_changed(const Json& other, const Json& row) {
  Json changed = Json::object();
  for (const auto& [name, value] : row.items()) {
    const bool names_it = name == "id" || name.ends_with("_id") || name == "key" || name == "kind" || name == "title";
    const Json* was = find(other, name);
    if (names_it || was == nullptr || *was != value) changed[name] = value;
  }
  return changed;
}

Json change_of(std::string_view table, Json before, Json after) {
  if (before.is_object() && after.is_object()) {
    Json was = only_changed(after, before);
    after = only_changed(before, after);
    before = std::move(was);
  }
  return {{"table", table}, {"before", std::move(before)}, {"after", std::move(after)}};
}

Result<Json> row_or_null(std::string_view text) {
  if (text.empty()) return Json(nullptr);
  return parse_bounded(text);
}

}  // namespace

Result<void> Changes::watch(Sandbox& sandbox, Watched& watched) {
  World& world = *sandbox.world;
  WS_TRY(world.database.execute(
      "create temp table if not exists trace_changes (n integer primary key, name text, before text, after text)"));
  WS_LET(const std::vector<std::string> tables, state_tables(world.database));
  for (const std::string& table : tables) {
    if (table != "trace_changes") WS_TRY(add_triggers(world, table));
  }
  watched.world = &world;
  watched.restores = world.restore_count;
  return {};
}

bool Changes::Watched::fits(const Sandbox& sandbox) const {
  return world == sandbox.world.get() && restores == sandbox.world->restore_count;
}

Result<void> Changes::begin(Sandbox& sandbox, Watched& watched) {
  WS_TRY(watch(sandbox, watched));
  WS_LET(Json all, read_tables(sandbox.world->database));
  for (Json& key : all["keys"]) {
    for (const char* name : {"secret_sha256", "display_prefix"}) key.erase(name);
  }
  watched.hash = hash_of(dump(all));
  return {};
}

Result<void> Changes::before(Sandbox& sandbox) {
  Watched& watched = watched_[sandbox.options.id];
  return watched.fits(sandbox) ? Result<void>() : begin(sandbox, watched);
}

Result<Changes::Found> Changes::after(Sandbox& sandbox) {
  Watched& watched = watched_[sandbox.options.id];
  World& world = *sandbox.world;
  if (!watched.fits(sandbox)) {
    WS_TRY(begin(sandbox, watched));
    return Found{.hash = watched.hash};
  }
  Json rows = Json::array();
  std::string text = watched.hash;
  {
    WS_LET(const sqlite::CachedStatement changes,
           world.database.cached("select name, before, after from temp.trace_changes order by n"));
    while (true) {
      WS_LET(const bool found, changes->step());
      if (!found) break;
      for (int column = 0; column < 3; ++column) text.append(1, '\n').append(changes->text(column));
      WS_LET(Json before, row_or_null(changes->text(1)));
      WS_LET(Json after, row_or_null(changes->text(2)));
      rows.push_back(change_of(changes->text(0), std::move(before), std::move(after)));
    }
  }
  if (!rows.empty()) {
    WS_TRY(set_hash(sandbox, hash_of(text)));
  }
  return Found{.hash = watched.hash, .rows = std::move(rows)};
}

Result<void> Changes::set_hash(Sandbox& sandbox, const std::string& hash) {
  Watched& watched = watched_[sandbox.options.id];
  if (!watched.fits(sandbox)) WS_TRY(watch(sandbox, watched));
  watched.hash = hash;
  WS_LET(const sqlite::CachedStatement forget, sandbox.world->database.cached("delete from temp.trace_changes"));
  return forget->run();
}

std::string Changes::hash(const std::string& sandbox) const {
  const auto found = watched_.find(sandbox);
  return found == watched_.end() ? std::string() : found->second.hash;
}

}  // namespace ws::mock::trace
