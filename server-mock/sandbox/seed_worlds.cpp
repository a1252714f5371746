#include "server-mock/sandbox/seed_worlds.hpp"

#include <algorithm>

namespace ws::mock {
namespace {

constexpr std::size_t most_seeds = 4;
constexpr std::chrono::minutes freshness{1};

}  // namespace

Result<std::unique_ptr<Sandbox>> Seeds::grow(const SandboxOptions& options, const std::string& name) {
  const auto now = std::chrono::steady_clock::now();
  if (!options.clock.is_frozen())
    std::erase_if(seeds_, [&](const Seed& seed) { return now - seed.made_at > freshness; });
  auto seed = std::ranges::find(seeds_, name, &Seed::name);
  if (seed == seeds_.end()) {
    WS_LET(std::unique_ptr<Sandbox> made, Sandbox::open(options));
    seeds_.push_front({.name = name, .made_at = now, .sandbox = std::move(made)});
    if (seeds_.size() > most_seeds) seeds_.pop_back();
  } else {
    seeds_.splice(seeds_.begin(), seeds_, seed);
  }
  return Sandbox::copy_of(*seeds_.front().sandbox, options);
}

}  // namespace ws::mock
