/// One page of a pull, read as it comes: memory holds one document at a time.
#pragma once

#include <cstdint>
#include <functional>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/remote/remote.hpp"

namespace ws {
class Client;
struct Call;
}  // namespace ws

namespace ws::sync {

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
