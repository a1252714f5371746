/// The service's answers to sync calls, read with patience: assumed members may be missing, null, or of another kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/remote/remote.hpp"

namespace ws::sync {

/// Empty where it is missing, negative or no whole number; 2, "2" and 2.0 are one.
std::optional<std::uint64_t> find_number(const Json& value, std::string_view key);
/// 0 for such a one.
std::uint64_t read_number(const Json& value, std::string_view key);

/// A whole answer of which nothing can be made, where asking changed nothing.
Failure unusable(std::string_view what);

/// `asked_for`: the id that it has where it does not say. Fails as `unusable` where there is neither.
Result<SourceInfo> read_source(const Json& value, std::string_view asked_for = {});
PulledItem read_item(const Json& value);
/// Of the document's text: `integrity`, with the reason.
Failure damaged_text(const DocumentId& document, std::string_view reason);
ServiceConflict read_conflict(const Json& value);
AppliedItem read_applied(const Json& value);
Result<CommitAnswer> read_commit(const Json& value);

}  // namespace ws::sync
