/// One sandbox: a world with its clock, access check, journal, fault rules and pending requests. Sandboxes share
/// nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "api-client/base/sqlite.hpp"
#include "server-mock/access/access.hpp"
#include "server-mock/faults/faults.hpp"
#include "server-mock/faults/rate_limit.hpp"
#include "server-mock/fixtures/fixtures.hpp"
#include "server-mock/journal/journal.hpp"
#include "server-mock/sandbox/clock.hpp"
#include "server-mock/sandbox/pending_claims.hpp"
#include "server-mock/services/built_in/built_in_world.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// Named copies of a world: state, clock and assumption switches, without journal and faults. Those of a world in a
/// data file are files in `FILE.snapshots/` and last as it does; others are kept until the server stops.
class Snapshots {
 public:
  /// Finds those that an earlier run left. Fails with `disk`.
  Result<void> open(World& world);
  /// Replaces the snapshot of that name.
  Result<void> take(World& world, const MockClock& clock, const BuiltIn& built_in, const std::string& name);
  /// False if the name is unknown.
  Result<bool> restore(World& world, MockClock& clock, BuiltIn& built_in, std::string_view name) const;
  bool remove(World& world, std::string_view name);
  void clear(World& world);

  /// `{name, created_at}`; null if the name is unknown.
  Json read(std::string_view name) const;
  Json read() const;  ///< all of them, by name

 private:
  struct Copy {
    sqlite::Database database;
    MockClock clock = {};
    Assumptions assumptions = {};
    std::optional<BuiltIn> built_in = {};  ///< empty: of an earlier run, which left it in the rows
    std::int64_t created_at = 0;
    std::vector<std::string> blobs = {};
    std::int64_t number = 0;  ///< of its file; 0: it has none
  };
  std::string path_of(std::int64_t number) const;
  Result<void> take_over(World& world, std::int64_t number);
  static void release_blobs(World& world, const Copy& copy);

  std::string folder_ = {};  // empty: in memory
  std::int64_t last_number_ = 0;
  std::map<std::string, Copy, std::less<>> copies_ = {};
};

/// What to do with the world in an existing data file.
enum class ExistingData { keep, replace };

struct SandboxOptions {
  std::string id = {};            ///< the ID of `/_s/ID`; empty: the sandbox at the base URL
  std::string data = ":memory:";  ///< or a file; a world in it is continued
  ExistingData existing_data = ExistingData::keep;
  WorldOptions world = {};
  Assumptions assumptions = {};
  MockClock clock = {};
  bool is_clock_given = false;  ///< also where it is the default: the data file's does not count then
  AuthMode auth = AuthMode::strict;
  JournalBounds journal = {};
  Fixtures fixtures = {};             ///< the content that "seed" means; empty: the built-in world
  StartWith start = StartWith::seed;  ///< the initial content, and that of "seed", if there are no fixtures
  std::vector<FaultRule> faults = {};
  Rate rate = {};
};

/// A pending claim: the transport's ticket, and the request id.
struct PendingCall {
  std::uint64_t ticket = 0;
  std::string request_id = {};
};

struct Sandbox {
  /// Fails as `World::open` does, with `invalid` if the fixtures are wrong, with `usage` if there are fixtures but the
  /// data file already contains a world.
  static Result<std::unique_ptr<Sandbox>> open(const SandboxOptions& options);
  /// In memory, with a copy of the rows and bytes of `seed`, which must have been made with the same content options.
  static Result<std::unique_ptr<Sandbox>> copy_of(const Sandbox& seed, const SandboxOptions& options);
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// Restores state, journal, faults, clock and switches of the start.
  Result<void> reset(StartWith start);
  /// The same with a snapshot, including its clock and switches; false if the name is unknown.
  Result<bool> reset(std::string_view snapshot);
  /// Restores state, clock and switches of a snapshot; journal and faults stay.
  Result<bool> restore(std::string_view snapshot);
  /// `{assumptions, clock, tables}`, keys sorted: the state as `PUT /_mock/state` takes it.
  Result<Json> read_state() const;
  /// With a data file: writes switches and clock beside it where a call changed what the options say. The next run goes
  /// on with them, but for those that its own options name. Fails with `disk`.
  Result<void> save_settings();
  /// Whether that is the whole state: no pending request, no counting fault rule or rate limit, no named snapshot, no
  /// file outside the database.
  bool is_rows_only() const;

  SandboxOptions options;
  MockClock clock;
  std::unique_ptr<World> world = {};
  BuiltIn built_in = {};
  std::unique_ptr<Access> access = {};
  Journal journal;
  FaultRules faults;
  RateLimit rate_limit;
  PendingClaims pending_claims = {};
  std::map<PendingClaims::Ticket, PendingCall> pending_calls = {};
  /// Keyed calls that a fault rule delays before their handler: owner and key (`IdempotencyKey::owner`).
  std::set<std::pair<std::string, std::string>> in_flight = {};
  Snapshots snapshots = {};
  std::optional<Advance> advance = {};                  ///< set while the clock advances in steps
  std::optional<std::chrono::milliseconds> watch = {};  ///< set by a call that waits this long for new journal entries
  std::uint64_t requests = 0;                           ///< count of requests, for request ids
  std::string base_url = {};                            ///< set once the server listens

 private:
  explicit Sandbox(const SandboxOptions& given);
  void attach_world(std::unique_ptr<World> filled);
  Result<void> fill(StartWith start);
  void refill_faults();
  void forget_calls();
  Result<void> load_settings();

  std::string saved_settings_ = {};
};

/// Cache of filled worlds: a new sandbox is a copy of one, which is much cheaper than filling a world.
///
/// Times in a world count from its creation, so on a running clock an entry is used for one minute only. The cache
/// holds a few entries: the default content and recently sent fixtures.
class SeedWorlds {
 public:
  /// A new sandbox in memory. Options with the same `name` must describe the same content. Fails as `Sandbox::open`
  /// does.
  Result<std::unique_ptr<Sandbox>> copy_of(const SandboxOptions& options, const std::string& name);

 private:
  struct SeedWorld {
    std::string name = {};
    Time made_at = {};
    std::unique_ptr<Sandbox> sandbox = {};
  };
  std::list<SeedWorld> seed_worlds_ = {};  // most recently used first
};

}  // namespace ws::mock
