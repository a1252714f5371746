#include "server-mock/sandbox/snapshots.hpp"

#include <nlohmann/json.hpp>

#include "server-mock/store/query.hpp"

namespace ws::mock {
namespace {

Result<std::vector<std::string>> blobs_of(World& world) {
  return read_rows(world, read_text, "select blob from uploads where blob <> '' union select blob from assets");
}

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

}  // namespace ws::mock
