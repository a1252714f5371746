/// The service's answers to sync calls, read with patience: assumed members may be missing, null, or of another kind.
#pragma once

#include <cstdint>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/remote/remote.hpp"

namespace ws::sync {

/// 0 where it is missing, negative or no number.
std::uint64_t read_number(const Json& value, std::string_view key);
/// Fails with `service` where there is no id.
Result<SourceInfo> read_source(const Json& value);
/// Fails with `service` where there is no id, and `integrity` where the text is not what its hash says.
Result<PulledItem> read_item(const Json& value);
AppliedItem read_applied(const Json& value);
Result<CommitAnswer> read_commit(const Json& value);

}  // namespace ws::sync
