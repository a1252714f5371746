/// One world with all that belongs to it: its clock, who may call, what was asked. None knows another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api-client/base/result.hpp"
#include "server-mock/access/access.hpp"
#include "server-mock/control/clock.hpp"
#include "server-mock/pipeline/journal.hpp"
#include "server-mock/services/waiting_room.hpp"
#include "server-mock/store/built_in_world.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct SandboxOptions {
  std::string data = ":memory:";  ///< or a file, which is gone on with where it holds a world already
  WorldOptions world = {};
  Assumptions assumptions = {};
  MockClock clock = {};
  AuthMode auth = AuthMode::strict;
  JournalBounds journal = {};
};

struct Sandbox {
  /// Fails with `disk`, or `invalid` where the file is not ours or newer.
  static Result<std::unique_ptr<Sandbox>> open(const SandboxOptions& options);
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// State, journal and clock as at the start; the switches stay as they are.
  Result<void> reset(StartWith start);

  SandboxOptions options;
  MockClock clock;
  std::unique_ptr<World> world = {};
  BuiltIn built_in = {};
  std::unique_ptr<Access> access = {};
  Journal journal;
  WaitingRoom waiting_room = {};
  std::uint64_t requests = 0;  ///< so far: what request ids are made of
  std::string base_url = {};   ///< known once the server listens

 private:
  explicit Sandbox(const SandboxOptions& given);
};

}  // namespace ws::mock
