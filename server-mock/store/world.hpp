/// All that one sandbox is: its database, ids, clock, switches. Many worlds live in one process; none knows another.
///
/// A world is used by one thread at a time. Times in the database are milliseconds since 1970, UTC (`World::now`).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
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

/// Who approves a device login: a person on the page, nobody needed, or nobody can.
enum class DeviceMode { manual, automatic, after_polls, deny };

enum class Unknown { ignored, refused };  ///< request fields that the table does not know; `refused` is `--strict`

struct WorldOptions {
  std::uint64_t seed = 1;
  Secrets secrets = Secrets::seeded;
  Unknown unknown_fields = Unknown::ignored;
  DeviceMode device = DeviceMode::manual;
  int device_polls = 0;  ///< with `after_polls`: pending polls before approval
  std::chrono::seconds device_interval{5};
  std::chrono::seconds device_expires{900};
  int page_bytes = 4096;  ///< of a database in memory: most tables of a small world fill a fraction of a page
};

/// An agent has work, or its queue changed: who waits for it looks again.
struct Wake {
  std::string agent_id = {};
  std::string owner_user_id = {};
  std::string workspace_id = {};
};

struct World {
  /// An empty world on a database file, or in memory (":memory:"); a file made by an older version is migrated. What is
  /// in the file stays, with the bytes of its assets; bytes that belong to nothing go. Fails with `disk`, as
  /// `DataFile::open` does. `clock` outlives it.
  static Result<std::unique_ptr<World>> open(const std::string& path, WorldOptions options, const Clock& clock);

  /// A world in memory that begins as a copy of `seed`'s rows and bytes, without its switches.
  static Result<std::unique_ptr<World>> copy_of(const World& seed, const Clock& clock);

  /// Everything out, bytes too, ids counted from the start. The switches and options stay.
  Result<void> clear();
  /// Whether anything was ever put in: a fresh database, or one to go on with.
  Result<bool> is_empty();
  /// All rows of another world's database in place of these, as it was copied (`sqlite::Database::copy_to`).
  Result<void> restore(const sqlite::Database& copy);

  /// A name for new bytes: none that a copy still keeps.
  std::string new_blob();
  /// Removes the bytes, unless a copy keeps them.
  void drop_blob(const std::string& name);

  std::int64_t now() const { return clock->now().time_since_epoch().count(); }

  DataFile file = {};  ///< locked as long as the world is there
  sqlite::Database database;
  Ids ids;
  Blobs blobs;  ///< of uploads and assets
  const Clock* clock;
  WorldOptions options = {};
  Assumptions assumptions = {};
  /// Called in the midst of the change that it tells of: take note and look after the call that is being served.
  std::function<void(const Wake&)> on_wake = {};
  int open_units = 0;           ///< for UnitOfWork alone
  std::uint64_t exchanges = 0;  ///< how often `restore` put another database in its place
  std::string path = {};
  std::multiset<std::string> kept_blobs = {};  ///< bytes that stay though no row names them: copies do
};

/// Removes the bytes that no upload and no asset names. Whoever puts other rows into the database calls it.
Result<void> drop_orphans(World& world);

/// A time of the database as the API writes it.
std::string rfc3339(std::int64_t milliseconds);

/// What happens whole or not at all. Rolls back when it goes out of scope without `commit`.
///
/// They nest: the outermost is the transaction (and writes the ids' counters), those inside are savepoints. So a
/// service is atomic by itself, and the pipeline can put its idempotency record into the same transaction.
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
