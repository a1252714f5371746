/// Many random cases, on as many threads as `WS_THREADS` says. A case is read off a seed of its own: `WS_SEED=N
/// WS_CASES=1` is one of them again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tests/sync-engine/reconcile/planner_world.hpp"

namespace ws::sync::test {

/// At most `most` + 3 bytes.
WorldScript script_of(std::uint64_t seed, std::size_t most);

/// Of the `count` seeds from `first` on, the lowest that `fails`. `fails` is called by several threads at once.
std::optional<std::uint64_t> first_failure(std::uint64_t first,
                                           std::uint64_t count,
                                           const std::function<bool(std::uint64_t seed)>& fails);

}  // namespace ws::sync::test
