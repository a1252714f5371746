/// The data of one sandbox: database, ids, blobs, clock, assumption switches. Worlds share nothing.
///
/// Used by one thread at a time. Times in the database are milliseconds since 1970, UTC (`World::now`).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "api-client/base/clock.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"
#include "server-mock/store/assumptions.hpp"
#include "server-mock/store/blobs.hpp"
#include "server-mock/store/data_file.hpp"
#include "server-mock/store/ids.hpp"

namespace ws::mock {

/// How device logins are decided: by a person on the page, automatically, after N polls, or always denied.
enum class DeviceMode { manual, automatic, after_polls, deny };

enum class UnknownFields {
  ignored,
  refused
};  ///< request fields that the table does not know; `refused` is `--strict`

struct WorldOptions {
  std::uint64_t seed = 1;
  Secrets secrets = Secrets::seeded;
  std::string secrets_scope = {};  ///< of `Ids`: the id of a sandbox
  UnknownFields unknown_fields = UnknownFields::ignored;
  DeviceMode device = DeviceMode::manual;
  int device_polls = 0;  ///< with `after_polls`: number of pending polls before approval
  std::chrono::seconds device_interval{5};
  std::chrono::seconds device_expires{900};
  int page_bytes = 2048;  ///< of a database in memory: each page that a transaction touches is copied for its rollback
};

/// The event queue of an agent has changed: pending claims for it should be retried.
struct QueueChange {
  std::string agent_id = {};
  std::string owner_user_id = {};
  std::string workspace_id = {};
};

struct World {
  /// Opens a world in a database file, or in memory (":memory:"). Migrates a file of an older version and keeps its
  /// content; `drop_orphans` is left to the caller. Fails with `disk`, as `DataFile::open` does. `clock` outlives it.
  static Result<std::unique_ptr<World>> open(const std::string& path, const WorldOptions& options, const Clock& clock);

  /// A world in memory with a copy of `seed`'s rows and blobs, without its switches.
  /// Secrets that it issues are those of the scope.
  static Result<std::unique_ptr<World>> copy_of(const World& seed,
                                                const std::string& secrets_scope,
                                                const Clock& clock);

  /// Deletes all rows and blobs and resets the id counters. Switches and options stay.
  Result<void> clear();
  /// Whether the database has no content yet.
  Result<bool> is_empty();
  /// Replaces all rows by those of a database copy (`sqlite::Database::copy_to`).
  Result<void> restore(const sqlite::Database& copy);

  /// What was read of keys, members and agents is still true as long as this is the same.
  std::pair<std::uint64_t, std::uint64_t> callers_version() const { return {database.watched_writes(), restore_count}; }

  /// An unused name for a blob.
  std::string new_blob();
  /// Removes the blob, unless a snapshot needs it.
  void drop_blob(const std::string& name);
  bool is_lasting() const { return path != ":memory:"; }

  /// One unit of work has one time: what it writes does not differ by how long it took.
  std::int64_t now() const { return unit_time ? *unit_time : clock->now().time_since_epoch().count(); }
  /// The time that clients see pass, in milliseconds, also while `clock` is frozen.
  std::int64_t real_now() const { return real_clock ? real_clock() : now(); }

  DataFile file = {};  ///< locked as long as the world exists
  sqlite::Database database;
  Ids ids;
  Blobs blobs;  ///< of uploads and assets
  const Clock* clock;
  WorldOptions options = {};
  Assumptions assumptions = {};
  /// Called within the transaction that changes the queue: only take a note, and act after the current call.
  std::function<void(const QueueChange&)> on_queue_change = {};
  std::function<std::int64_t()> real_clock = {};  ///< empty: `clock` is the real one
  /// When pending device logins were polled last, by `real_now`. Not state: it differs from run to run.
  std::map<std::string, std::int64_t, std::less<>> real_polls = {};
  int open_transactions = 0;                   ///< only for UnitOfWork
  std::optional<std::int64_t> unit_time = {};  ///< only for UnitOfWork
  std::uint64_t restore_count = 0;             ///< number of calls of `restore`
  std::string path = {};
  std::multiset<std::string> pinned_blobs = {};  ///< needed by snapshots, even if no row names them
};

/// How many files have no bytes: the folder beside the data file is missing, or not the one that belongs to it.
Result<std::int64_t> count_lost_blobs(World& world);

/// Removes blobs that no upload and no asset names. Call it after replacing rows.
Result<void> drop_orphans(World& world);

/// A time in milliseconds as the API writes it.
std::string rfc3339(std::int64_t milliseconds);

/// A transaction. Rolls back when it goes out of scope without `commit`.
///
/// Units nest: the outermost is the transaction (its commit writes the id counters), inner ones are savepoints. So each
/// service is atomic, and the pipeline can store its idempotency record in the same transaction.
class UnitOfWork {
 public:
  static Result<UnitOfWork> begin(World& world);
  UnitOfWork(UnitOfWork&& other) noexcept : world_(std::exchange(other.world_, nullptr)) {}
  UnitOfWork& operator=(UnitOfWork&&) = delete;
  UnitOfWork(const UnitOfWork&) = delete;
  UnitOfWork& operator=(const UnitOfWork&) = delete;
  ~UnitOfWork();
  Result<void> commit();

 private:
  explicit UnitOfWork(World& world) : world_(&world) {}
  World* world_;
};

}  // namespace ws::mock
