/// What every command that writes does first.
#pragma once

#include <string_view>

#include "sync-engine/binding/tree_lock.hpp"
#include "sync-engine/run/run_context.hpp"

namespace ws::sync {

/// Takes the lock and finishes the work of an interrupted command, which is recorded in that command's operation.
/// `kind` is the operation of this call. Fails with `busy` while another process holds the lock.
Result<TreeLock> begin(RunContext& context, std::string_view kind);

}  // namespace ws::sync
