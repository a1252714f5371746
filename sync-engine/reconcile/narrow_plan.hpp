/// The part of a plan that somebody wants done: `--only`, and a watch that leaves alone what is still being written.
/// Pure.
#pragma once

#include "sync-engine/model/plan.hpp"

namespace ws::sync {

/// Leaves out what `wanted` does not want by its path, and what cannot be done without it: the other rows of the same
/// document, and whatever takes a place, on either side, that its holder would leave by a row that is left out. So half
/// of a swap is not done at all; `Plan::partial` says that something was left out. A `wanted` that wants everything
/// leaves the plan as it is.
void narrow_plan(Plan& plan, const BaseTree& base, const RemoteTree& remote, const WantedPath& wanted);

}  // namespace ws::sync
