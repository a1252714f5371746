/// One world with all that belongs to it: its clock, who may call, what was asked, what goes wrong. None knows another.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/access/access.hpp"
#include "server-mock/faults/faults.hpp"
#include "server-mock/faults/rate_limit.hpp"
#include "server-mock/fixtures/fixtures.hpp"
#include "server-mock/journal/journal.hpp"
#include "server-mock/sandbox/clock.hpp"
#include "server-mock/sandbox/clock_advance.hpp"
#include "server-mock/sandbox/pending_claims.hpp"
#include "server-mock/sandbox/snapshots.hpp"
#include "server-mock/services/built_in/built_in_world.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

/// What becomes of the world that a data file holds already.
enum class KeptWorld { goes_on, is_replaced };

struct SandboxOptions {
  std::string id = {};            ///< of the address `/_s/ID`; empty: the one at the base URL itself
  std::string data = ":memory:";  ///< or a file, which is gone on with where it holds a world already
  KeptWorld kept = KeptWorld::goes_on;
  WorldOptions world = {};
  Assumptions assumptions = {};
  MockClock clock = {};
  AuthMode auth = AuthMode::strict;
  JournalBounds journal = {};
  Fixtures fixtures = {};             ///< what "seed" means; none: the built-in world
  StartWith start = StartWith::seed;  ///< without fixtures: what it begins with, and what "seed" means to a reset
  std::vector<FaultRule> faults = {};
  Rate rate = {};
};

/// A call that waits in the sandbox's waiting room: the transport's ticket for it, and its request id.
struct Guest {
  std::uint64_t ticket = 0;
  std::string request_id = {};
};

struct Sandbox {
  /// Fails as `World::open` does, with `invalid` where fixtures are wrong, with `usage` where there are fixtures for a
  /// world that goes on.
  static Result<std::unique_ptr<Sandbox>> open(const SandboxOptions& options);
  /// In memory, with the rows and bytes of `seed` to begin with, which `options` would have made as well.
  static Result<std::unique_ptr<Sandbox>> copy_of(const Sandbox& seed, const SandboxOptions& options);
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// State, journal, faults and clock as at the start; the switches stay as they are.
  Result<void> reset(StartWith start);
  /// The same to a snapshot, with its clock and switches; false: there is none of that name.
  Result<bool> reset(std::string_view snapshot);
  /// State, clock and switches of a snapshot; journal and faults stay.
  Result<bool> restore(std::string_view snapshot);

  SandboxOptions options;
  MockClock clock;
  std::unique_ptr<World> world = {};
  BuiltIn built_in = {};
  std::unique_ptr<Access> access = {};
  Journal journal;
  FaultBook faults;
  RateLimit rate_limit;
  WaitingRoom waiting_room = {};
  std::map<WaitingRoom::Ticket, Guest> guests = {};
  /// Keyed calls that a fault holds up before their handler: owner and key (`IdempotencyKey::owner`).
  std::set<std::pair<std::string, std::string>> in_flight = {};
  Snapshots snapshots = {};
  std::optional<Advance> advance = {};                  ///< the clock is on its way
  std::optional<std::chrono::milliseconds> watch = {};  ///< who asks for the journal would rather wait so long for more
  std::uint64_t requests = 0;                           ///< so far: what request ids are made of
  std::string base_url = {};                            ///< known once the server listens

 private:
  explicit Sandbox(const SandboxOptions& given);
  void settle_in(std::unique_ptr<World> filled);
  Result<void> fill(StartWith start);
  void refill_faults();
  void forget_calls();
};

}  // namespace ws::mock
