/// Values of the model as JSON, for the columns of the state that hold whole values.
#pragma once

#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "sync-engine/state/state_store.hpp"

namespace ws::sync {

std::string encode(const Conflict& conflict);
std::string encode(const StagedCommit& staged);

/// All fail with `integrity`: the state was written by something else.
Result<Conflict> decode_conflict(std::string_view text);
Result<StagedCommit> decode_staged(std::string_view text);

}  // namespace ws::sync
