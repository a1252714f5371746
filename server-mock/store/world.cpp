#include "server-mock/store/world.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "server-mock/store/query.hpp"
#include "server-mock/store/schema.hpp"

namespace ws::mock {

namespace {

constexpr const char* in_memory = ":memory:";
constexpr std::string_view caller_tables[] = {"keys", "members", "agents"};

Result<sqlite::Database> connect(const std::string& path, const WorldOptions& options) {
  WS_LET(sqlite::Database database, sqlite::Database::open(path));
  if (path == in_memory) {
    WS_TRY(database.execute(fmt::format("pragma page_size = {};", options.page_bytes)));
  } else {
    // The application id must be set while the database is empty and before it has a write-ahead log.
    WS_TRY(sign(database));
    // synchronous=full: a commit that was answered survives SIGKILL and power loss.
    WS_TRY(database.execute("pragma journal_mode = wal; pragma synchronous = full;"));
  }
  WS_TRY(database.execute("pragma temp_store = memory; pragma cache_size = -32768;"));
  database.watch(caller_tables);
  return database;
}

}  // namespace

Result<std::unique_ptr<World>> World::open(const std::string& path, const WorldOptions& options, const Clock& clock) {
  DataFile file;
  if (path != in_memory) {
    WS_LET(file, DataFile::open(path));
  }
  WS_LET(sqlite::Database database, connect(path, options));
  WS_TRY(migrate(database));
  std::unique_ptr<World> world(new World{.file = std::move(file),
                                         .database = std::move(database),
                                         .ids = Ids(options.seed, options.secrets),
                                         .blobs = Blobs(path),
                                         .clock = &clock,
                                         .options = options,
                                         .path = path});
  WS_TRY(world->ids.load(world->database));
  return world;
}

Result<std::unique_ptr<World>> World::copy_of(const World& seed, const std::string& secrets_scope, const Clock& clock) {
  WorldOptions options = seed.options;
  options.secrets_scope = secrets_scope;
  WS_LET(sqlite::Database database, connect(in_memory, seed.options));
  WS_TRY(seed.database.copy_to(database));
  std::unique_ptr<World> world(new World{.database = std::move(database),
                                         .ids = Ids(options.seed, options.secrets, secrets_scope),
                                         .blobs = Blobs(in_memory),
                                         .clock = &clock,
                                         .options = options,
                                         .path = in_memory});
  WS_TRY(world->ids.load(world->database));
  world->blobs.share(seed.blobs);
  return world;
}

std::string World::new_blob() {
  std::string name = ids.uuid("blob");
  while (pinned_blobs.contains(name)) name = ids.uuid("blob");
  return name;
}

void World::drop_blob(const std::string& name) {
  if (!pinned_blobs.contains(name)) blobs.remove(name);
}

Result<void> World::clear() {
  WS_LET(UnitOfWork work, UnitOfWork::begin(*this));
  WS_LET(const std::vector<std::string> tables, table_names(database));
  for (const std::string& table : tables) WS_TRY(database.execute("delete from " + table));
  ids.restart();
  WS_TRY(work.commit());
  return drop_orphans(*this);
}

Result<void> World::restore(const sqlite::Database& copy) {
  ++restore_count;
  if (path != in_memory) WS_TRY(copy.copy_to(database));
  WS_LET(sqlite::Database fresh, connect(path, options));
  if (path == in_memory) WS_TRY(copy.copy_to(fresh));
  database = std::move(fresh);
  WS_TRY(ids.load(database));
  return drop_orphans(*this);
}

Result<void> drop_orphans(World& world) {
  WS_LET(const std::vector<std::string> used,
         read_rows(world, read_text, "select blob from uploads where blob <> '' union select blob from assets"));
  std::set<std::string> wanted(used.begin(), used.end());
  wanted.insert(world.pinned_blobs.begin(), world.pinned_blobs.end());
  return world.blobs.keep_only(wanted);
}

Result<std::int64_t> count_lost_blobs(World& world) {
  WS_LET(const std::vector<std::string> names,
         read_rows(world, read_text, "select distinct blob from assets where blob <> ''"));
  return std::ranges::count_if(names, [&](const std::string& name) { return !world.blobs.open(name); });
}

Result<bool> World::is_empty() {
  WS_LET(const bool has_user, has_row(*this, "select 1 from users limit 1"));
  return !has_user;
}

std::string rfc3339(std::int64_t milliseconds) { return to_rfc3339(Time{std::chrono::milliseconds{milliseconds}}); }

Result<UnitOfWork> UnitOfWork::begin(World& world) {
  const char* sql = world.open_transactions == 0 ? "begin immediate" : "savepoint unit";
  WS_TRY(put(world, sql));
  if (world.open_transactions == 0) world.unit_time = world.now();
  ++world.open_transactions;
  return UnitOfWork(world);
}

Result<void> UnitOfWork::commit() {
  const bool outermost = world_->open_transactions == 1;
  if (outermost) WS_TRY(world_->ids.save(world_->database));
  WS_LET(const sqlite::CachedStatement commit, world_->database.cached(outermost ? "commit" : "release unit"));
  WS_TRY(commit->run());
  if (outermost) world_->unit_time.reset();
  --world_->open_transactions;
  world_ = nullptr;
  return {};
}

UnitOfWork::~UnitOfWork() {
  if (world_ == nullptr) return;
  // If the rollback fails, the next `begin` reports it.
  const auto run = [&](const char* sql) {
    if (auto statement = world_->database.cached(sql)) static_cast<void>((*statement)->run());
  };
  if (world_->open_transactions == 1) {
    world_->unit_time.reset();
    run("rollback");
  } else {
    run("rollback to unit");
    run("release unit");
  }
  --world_->open_transactions;
}

}  // namespace ws::mock
