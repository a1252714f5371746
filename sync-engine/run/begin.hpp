/// What every command that writes does first.
#pragma once

#include <string_view>

#include "sync-engine/binding/tree_lock.hpp"
#include "sync-engine/run/run_context.hpp"

namespace ws::sync {

/// Takes the lock and finishes what a command that was cut off had begun. That belongs to the operation of that
/// command; `kind` names the one of this call. Fails with `busy` while another process has the lock.
Result<TreeLock> begin(RunContext& context, std::string_view kind);

}  // namespace ws::sync
