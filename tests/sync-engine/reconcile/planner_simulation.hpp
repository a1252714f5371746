/// Does a plan to a world as the engine would, and says what it found wrong.
#pragma once

#include <set>
#include <string>

#include "tests/sync-engine/reconcile/planner_world.hpp"

namespace ws::sync::test {

struct Simulated {
  std::set<Sha256> history = {};  ///< every text of the base, and those that were replaced or removed
  std::string wrong = {};         ///< empty: the plan could be done
};

Simulated simulate(World& world, const Plan& plan);

}  // namespace ws::sync::test
