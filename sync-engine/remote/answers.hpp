/// The service's answers to sync calls, read with patience: assumed members may be missing, null, or of another kind. A
/// page of a pull is read as it comes: memory holds one document at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/remote/remote.hpp"

namespace ws {
class Client;
struct Call;
}  // namespace ws

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

/// What a pull may hold, all its pages together: far above any Workspace. A service that never ends is no service.
struct PullBounds {
  std::uint64_t items = 2'000'000;
  std::uint64_t bytes = std::uint64_t{64} << 30U;
};

/// What has come so far of a pull.
struct PullTotal {
  PullBounds bounds = {};
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
};

/// Hands each document to `visit`, adds the page to `total`, and answers the page without its documents. A page that is
/// cut on its way is asked for again like any call: its documents then come again from the first. A document whose text
/// cannot be read comes without it; a page that is no JSON, or goes over the bounds, is an unusable answer. Fails as
/// the call or `visit` does, too.
Result<Json> stream_page(Client& client,
                         const Call& call,
                         PullTotal& total,
                         const std::function<Result<void>(PulledItem item)>& visit);

}  // namespace ws::sync
