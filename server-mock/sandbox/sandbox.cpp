#include "server-mock/sandbox/sandbox.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server-mock/store/query.hpp"
#include "server-mock/store/schema.hpp"

namespace ws::mock {
namespace {

Result<std::vector<std::string>> blobs_of(World& world) {
  return read_rows(world, read_text, "select blob from uploads where blob <> '' union select blob from assets");
}

constexpr std::size_t max_seeds = 4;
constexpr std::chrono::minutes freshness{1};

}  // namespace

Result<void> Snapshots::take(World& world, const MockClock& clock, const BuiltIn& built_in, const std::string& name) {
  WS_LET(sqlite::Database database, sqlite::Database::open(":memory:"));
  WS_TRY(world.database.copy_to(database));
  Copy copy = {.database = std::move(database),
               .clock = clock,
               .assumptions = world.assumptions,
               .built_in = built_in,
               .created_at = world.now()};
  WS_LET(copy.blobs, blobs_of(world));
  world.pinned_blobs.insert(copy.blobs.begin(), copy.blobs.end());
  remove(world, name);
  copies_.emplace(name, std::move(copy));
  return {};
}

Result<bool> Snapshots::restore(World& world, MockClock& clock, BuiltIn& built_in, std::string_view name) const {
  const auto found = copies_.find(name);
  if (found == copies_.end()) return false;
  const Copy& copy = found->second;
  WS_TRY(world.restore(copy.database));
  clock = copy.clock;
  world.assumptions = copy.assumptions;
  built_in = copy.built_in;
  return true;
}

void Snapshots::release_blobs(World& world, const Copy& copy) {
  for (const std::string& blob : copy.blobs) {
    const auto kept = world.pinned_blobs.find(blob);
    if (kept != world.pinned_blobs.end()) world.pinned_blobs.erase(kept);
  }
}

bool Snapshots::remove(World& world, std::string_view name) {
  const auto found = copies_.find(name);
  if (found == copies_.end()) return false;
  release_blobs(world, found->second);
  copies_.erase(found);
  return true;
}

void Snapshots::clear(World& world) {
  for (const auto& [name, copy] : copies_) release_blobs(world, copy);
  copies_.clear();
}

Json Snapshots::read(std::string_view name) const {
  const auto found = copies_.find(name);
  if (found == copies_.end()) return nullptr;
  return {
      {"name", found->first}, {"created_at", rfc3339(found->second.created_at)}, {"clock", found->second.clock.text()}};
}

Json Snapshots::read() const {
  Json data = Json::array();
  for (const auto& [name, copy] : copies_) data.push_back(read(name));
  return data;
}

Result<std::unique_ptr<Sandbox>> SeedWorlds::copy_of(const SandboxOptions& options, const std::string& name) {
  const Time now = options.clock.real_now();
  if (!options.clock.is_frozen())
    std::erase_if(seed_worlds_,
                  [&](const SeedWorld& seed) { return now - seed.made_at > freshness || now < seed.made_at; });
  auto seed = std::ranges::find(seed_worlds_, name, &SeedWorld::name);
  if (seed == seed_worlds_.end()) {
    WS_LET(std::unique_ptr<Sandbox> made, Sandbox::open(options));
    seed_worlds_.push_front({.name = name, .made_at = now, .sandbox = std::move(made)});
    if (seed_worlds_.size() > max_seeds) seed_worlds_.pop_back();
  } else {
    seed_worlds_.splice(seed_worlds_.begin(), seed_worlds_, seed);
  }
  return Sandbox::copy_of(*seed_worlds_.front().sandbox, options);
}

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
  WS_LET(std::unique_ptr<World> world, World::copy_of(*seed.world, options.id, sandbox->clock));
  sandbox->attach_world(std::move(world));
  sandbox->built_in = seed.built_in;
  WS_TRY(renew_token(*sandbox->world, sandbox->built_in));
  return sandbox;
}

void Sandbox::attach_world(std::unique_ptr<World> filled) {
  world = std::move(filled);
  world->assumptions = options.assumptions;
  world->real_clock = [this] { return clock.real_now().time_since_epoch().count(); };
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

Result<Json> Sandbox::read_state() const {
  WS_LET(Json tables, read_tables(world->database));
  std::map<std::string, std::string> switches;
  for (const AssumptionSwitch& one : assumption_switches())
    switches.emplace(one.key, world->assumptions.value(one.key));
  return Json{{"assumptions", switches}, {"clock", clock.text()}, {"tables", std::move(tables)}};
}

bool Sandbox::is_rows_only() const {
  if (!faults.empty() || rate_limit.is_on() || pending_claims.size() > 0 || !in_flight.empty() ||
      !snapshots.read().empty() || (clock.is_frozen() && !world->real_polls.empty())) {
    return false;
  }
  const auto has_blob =
      has_row(*world, "select 1 from uploads where blob <> '' union all select 1 from assets where blob <> '' limit 1");
  return has_blob && !*has_blob;
}

void Sandbox::forget_calls() {
  journal.clear();
  refill_faults();
  rate_limit.clear();
  requests = 0;
  pending_claims.end_all();
}

}  // namespace ws::mock
