/// Restricts a plan to some paths: `--only`, and a watch that excludes files still being written. Pure.
#pragma once

#include "sync-engine/model/plan.hpp"

namespace ws::sync {

/// Removes the rows whose path is not `wanted`, and those that depend on them: the other rows of the same document, and
/// rows that need a path, on either side, which a removed row would have freed. So a swap is done whole or not at all.
/// `Plan::partial` is set where anything was removed.
void narrow_plan(Plan& plan, const BaseTree& base, const RemoteTree& remote, const WantedPath& wanted);

}  // namespace ws::sync
