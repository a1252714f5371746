#include "server-mock/sandbox/seed_worlds.hpp"

#include <algorithm>

namespace ws::mock {
namespace {

constexpr std::size_t max_seeds = 4;
constexpr std::chrono::minutes freshness{1};

}  // namespace

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

}  // namespace ws::mock
