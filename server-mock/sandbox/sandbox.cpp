#include "server-mock/sandbox/sandbox.hpp"

#include <fmt/format.h>

namespace ws::mock {

Sandbox::Sandbox(const SandboxOptions& given)
    : options(given),
      clock(given.clock),
      journal(given.journal, given.id),
      faults(given.world.seed),
      rate_limit(given.rate) {
  refill_faults();
}

void Sandbox::refill_faults() {
  faults = FaultRules(options.world.seed);
  for (const FaultRule& rule : options.faults) faults.add(rule);
}

Result<std::unique_ptr<Sandbox>> Sandbox::open(const SandboxOptions& options) {
  std::unique_ptr<Sandbox> sandbox(new Sandbox(options));
  WS_LET(std::unique_ptr<World> opened, World::open(options.data, options.world, sandbox->clock));
  sandbox->attach_world(std::move(opened));
  World& world = *sandbox->world;
  WS_LET(const bool is_empty, world.is_empty());
  if (!is_empty && !options.fixtures.empty() && options.existing_data == ExistingData::keep) {
    return fail(Failure::Kind::usage,
                fmt::format("{} has data already, which --fixtures would not change", options.data),
                "leave out --fixtures to continue with it, or add --reset to replace it");
  }
  if (is_empty || options.existing_data == ExistingData::replace) {
    WS_TRY(sandbox->fill(StartWith::seed));
  } else if (auto found = find_built_in(world)) {
    sandbox->built_in = std::move(*found);
  } else if (found.error().kind != Failure::Kind::not_found) {
    return fail(std::move(found).error());
  }
  return sandbox;
}

Result<std::unique_ptr<Sandbox>> Sandbox::copy_of(const Sandbox& seed, const SandboxOptions& options) {
  std::unique_ptr<Sandbox> sandbox(new Sandbox(options));
  WS_LET(std::unique_ptr<World> world, World::copy_of(*seed.world, sandbox->clock));
  sandbox->attach_world(std::move(world));
  sandbox->built_in = seed.built_in;
  return sandbox;
}

void Sandbox::attach_world(std::unique_ptr<World> filled) {
  world = std::move(filled);
  world->assumptions = options.assumptions;
  world->on_queue_change = [room = &pending_claims](const QueueChange& wake) { room->wake(wake); };
  access = std::make_unique<Access>(*world, options.auth);
}

Result<void> Sandbox::fill(StartWith start) {
  const bool written = start == StartWith::seed && !options.fixtures.empty();
  const StartWith bare = start == StartWith::seed ? options.start : start;
  WS_LET(built_in, written ? mock::reset(*world, options.fixtures) : mock::reset(*world, bare));
  return {};
}

Result<void> Sandbox::reset(StartWith start) {
  clock = options.clock;
  WS_TRY(fill(start));
  forget_calls();
  return {};
}

Result<bool> Sandbox::reset(std::string_view snapshot) {
  WS_LET(const bool found, restore(snapshot));
  if (found) forget_calls();
  return found;
}

Result<bool> Sandbox::restore(std::string_view snapshot) {
  WS_LET(const bool found, snapshots.restore(*world, clock, built_in, snapshot));
  if (found) pending_claims.end_all();
  return found;
}

void Sandbox::forget_calls() {
  journal.clear();
  refill_faults();
  rate_limit.clear();
  requests = 0;
  pending_claims.end_all();
}

}  // namespace ws::mock
