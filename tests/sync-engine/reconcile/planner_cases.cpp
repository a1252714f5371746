#include "tests/sync-engine/reconcile/planner_cases.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "api-client/base/random.hpp"
#include "tests/support/random_cases.hpp"

namespace ws::sync::test {
namespace {

/// So many cases a thread takes at once.
constexpr std::uint64_t seeds_of_a_helping = 256;

}  // namespace

WorldScript script_of(std::uint64_t seed, std::size_t most) {
  // Mixed first: the generator only counts, and neighbours would say the same, one word later.
  SeededRandom random(SeededRandom(seed).next());
  WorldScript script(4 + random.below(most));
  for (std::uint8_t& byte : script) byte = static_cast<std::uint8_t>(random.next());
  return script;
}

std::optional<std::uint64_t> first_failure(std::uint64_t first,
                                           std::uint64_t count,
                                           const std::function<bool(std::uint64_t seed)>& fails) {
  std::atomic<std::uint64_t> taken{0};
  std::mutex guard;
  std::optional<std::uint64_t> lowest;
  const auto work = [&] {
    while (true) {
      const std::uint64_t begin = taken.fetch_add(seeds_of_a_helping);
      if (begin >= count) return;
      for (std::uint64_t i = begin; i < std::min(count, begin + seeds_of_a_helping); ++i) {
        if (!fails(first + i)) continue;
        const std::lock_guard lock(guard);
        lowest = std::min(lowest.value_or(first + i), first + i);
        taken = count;
        break;
      }
    }
  };
  std::vector<std::jthread> others(std::max<std::uint64_t>(ws::test::number_from_environment("WS_THREADS", 1), 1) - 1);
  for (std::jthread& other : others) other = std::jthread(work);
  work();
  others.clear();
  return lowest;
}

}  // namespace ws::sync::test
