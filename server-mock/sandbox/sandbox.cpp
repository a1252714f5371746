#include "server-mock/sandbox/sandbox.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "server-mock/store/query.hpp"
#include "server-mock/store/schema.hpp"

namespace ws::mock {
namespace {

Result<std::vector<std::string>> blobs_of(const sqlite::Database& database) {
  WS_LET(sqlite::Statement rows,
         database.prepare("select blob from uploads where blob <> '' union select blob from assets"));
  return read_all(rows, read_text);
}

/// The row of a snapshot's file that is not of its world.
constexpr const char* facts_key = "snapshot";
constexpr std::size_t max_settings_bytes = std::size_t{64} << 10U;

std::string settings_path(const std::string& data) { return data + ".settings"; }

Json switches_of(const Assumptions& assumptions) {
  std::map<std::string_view, std::string_view> sorted;
  for (const AssumptionSwitch& one : assumption_switches()) sorted.emplace(one.key, assumptions.value(one.key));
  return sorted;
}

Result<void> set_switches(Assumptions& assumptions, const Json* switches) {
  if (switches == nullptr || !switches->is_object()) return {};
  for (const auto& [key, value] : switches->items()) {
    if (value.is_string()) WS_TRY(assumptions.set(key, value.get_ref<const std::string&>()));
  }
  return {};
}

constexpr std::size_t max_seeds = 4;
constexpr std::chrono::minutes freshness{1};

}  // namespace

std::string Snapshots::path_of(std::int64_t number) const {
  return number == 0 ? ":memory:" : fmt::format("{}/{}.db", folder_, number);
}

Result<void> Snapshots::open(World& world) {
  if (!world.is_lasting()) return {};
  folder_ = world.path + ".snapshots";
  std::vector<std::int64_t> numbers;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder_, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::int64_t number = std::strtoll(name.c_str(), nullptr, 10);
    if (number > 0 && entry->path() == path_of(number)) numbers.push_back(number);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return fail(Failure::Kind::disk, fmt::format("cannot read {}: {}", folder_, error.message()));
  }
  std::ranges::sort(numbers);
  for (const std::int64_t number : numbers) WS_TRY(take_over(world, number));
  return {};
}

/// The newest of a name counts: a run may have ended before it removed the older one. A file without facts is one that
/// was not finished.
Result<void> Snapshots::take_over(World& world, std::int64_t number) {
  last_number_ = number;
  WS_LET(sqlite::Database database, sqlite::Database::open(path_of(number)));
  std::string facts;
  if (auto row = database.prepare("select value from meta where key = ?")) {
    row->bind(1, facts_key);
    WS_LET(const bool found, row->step());
    if (found) facts = row->string(0);
  }
  const Json values = parse_bounded(facts).value_or(Json(nullptr));
  const auto name = find_text(values, "name");
  if (!name) {
    std::filesystem::remove(path_of(number));
    return {};
  }
  WS_TRY(migrate(database));
  Copy copy = {
      .database = std::move(database), .created_at = find_integer(values, "created_at").value_or(0), .number = number};
  WS_LET(copy.clock, MockClock::parse(find_text(values, "clock").value_or("real")));
  WS_TRY(set_switches(copy.assumptions, find(values, "assumptions")));
  WS_LET(copy.blobs, blobs_of(copy.database));
  world.pinned_blobs.insert(copy.blobs.begin(), copy.blobs.end());
  remove(world, *name);
  copies_.emplace(*name, std::move(copy));
  return {};
}

Result<void> Snapshots::take(World& world, const MockClock& clock, const BuiltIn& built_in, const std::string& name) {
  const std::int64_t number = folder_.empty() ? 0 : ++last_number_;
  if (number > 0) WS_TRY(make_folders(folder_, 0700));
  WS_LET(sqlite::Database database, sqlite::Database::open(path_of(number)));
  WS_TRY(world.database.copy_to(database));
  Copy copy = {.database = std::move(database),
               .clock = clock,
               .assumptions = world.assumptions,
               .built_in = built_in,
               .created_at = world.now(),
               .number = number};
  if (number > 0) {
    WS_TRY(copy.database.execute("pragma journal_mode = delete"));
    WS_LET(sqlite::Statement facts, copy.database.prepare("insert or replace into meta (key, value) values (?, ?)"));
    facts.bind_all(facts_key,
                   dump(Json{{"name", name},
                             {"clock", clock.text()},
                             {"assumptions", switches_of(world.assumptions)},
                             {"created_at", copy.created_at}}));
    WS_TRY(facts.run());
  }
  WS_LET(copy.blobs, blobs_of(copy.database));
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
  if (copy.number > 0) WS_TRY(put(world, "delete from meta where key = ?", facts_key));
  clock = copy.clock;
  world.assumptions = copy.assumptions;
  built_in = copy.built_in ? *copy.built_in : find_built_in(world).value_or(BuiltIn());
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
  const std::int64_t number = found->second.number;
  copies_.erase(found);
  std::error_code ignored;  // what cannot be removed is found again by the next run
  if (number > 0) std::filesystem::remove(path_of(number), ignored);
  return true;
}

void Snapshots::clear(World& world) {
  while (!copies_.empty()) remove(world, std::string(copies_.begin()->first));
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
  WS_TRY(sandbox->snapshots.open(world));
  if (options.existing_data == ExistingData::replace) {
    sandbox->snapshots.clear(world);
    std::error_code ignored;  // there is none where no call changed a setting
    std::filesystem::remove(settings_path(options.data), ignored);
  } else {
    WS_TRY(sandbox->load_settings());
  }
  WS_TRY(drop_orphans(world));
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
  world->assumptions = options.assumptions;
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
  return Json{{"assumptions", switches_of(world->assumptions)}, {"clock", clock.text()}, {"tables", std::move(tables)}};
}

Result<void> Sandbox::save_settings() {
  if (!world->is_lasting()) return {};
  Json changed = Json::object();
  for (const AssumptionSwitch& one : assumption_switches()) {
    const std::string_view value = world->assumptions.value(one.key);
    if (value != options.assumptions.value(one.key)) changed["assumptions"][std::string(one.key)] = value;
  }
  if (clock.text() != options.clock.text()) changed["clock"] = clock.text();
  std::string text = changed.empty() ? std::string() : dump(changed);
  if (text == saved_settings_) return {};
  WS_TRY(write_file(settings_path(world->path), text, 0600));
  saved_settings_ = std::move(text);
  return {};
}

Result<void> Sandbox::load_settings() {
  const std::string path = settings_path(world->path);
  std::error_code ignored;
  if (!world->is_lasting() || !std::filesystem::exists(path, ignored)) return {};
  WS_LET(saved_settings_, read_file(path, max_settings_bytes));
  if (saved_settings_.empty()) return {};
  WS_LET(const Json saved, parse_bounded(saved_settings_));
  Assumptions assumptions;
  WS_TRY(set_switches(assumptions, find(saved, "assumptions")));
  for (const AssumptionSwitch& one : assumption_switches()) {
    if (!options.assumptions.is_given(one.key)) {
      WS_TRY(world->assumptions.set(one.key, assumptions.value(one.key)));
    }
  }
  const auto text = find_text(saved, "clock");
  if (text && !options.is_clock_given) {
    WS_LET(clock, MockClock::parse(*text));
  }
  return {};
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
