#include "server-mock/sandbox.hpp"

#include <fmt/format.h>

namespace ws::mock {

Sandbox::Sandbox(const SandboxOptions& given) : options(given), clock(given.clock), journal(given.journal) {}

Result<std::unique_ptr<Sandbox>> Sandbox::open(const SandboxOptions& options) {
  std::unique_ptr<Sandbox> sandbox(new Sandbox(options));
  auto opened = World::open(options.data, options.world, sandbox->clock);
  if (!opened) {
    Failure failure = std::move(opened).error();
    failure.what = fmt::format("cannot use {}: {}", options.data, failure.what);
    return fail(std::move(failure));
  }
  sandbox->world = std::move(*opened);
  World& world = *sandbox->world;
  world.assumptions = options.assumptions;
  world.on_wake = [room = &sandbox->waiting_room](const Wake& wake) { room->wake(wake); };
  sandbox->access = std::make_unique<Access>(world, options.auth);
  WS_LET(const bool is_empty, world.is_empty());
  if (is_empty) {
    WS_LET(sandbox->built_in, mock::reset(world, StartWith::seed));
  } else if (auto found = find_built_in(world)) {
    sandbox->built_in = std::move(*found);
  } else if (found.error().kind != Failure::Kind::not_found) {
    return fail(std::move(found).error());
  }
  return sandbox;
}

Result<void> Sandbox::reset(StartWith start) {
  clock = options.clock;
  WS_LET(built_in, mock::reset(*world, start));
  journal.clear();
  requests = 0;
  waiting_room.end_all();
  return {};
}

}  // namespace ws::mock
