/// One page of a pull, read as it comes: memory holds one document at a time.
#pragma once

#include <functional>

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/remote/remote.hpp"

namespace ws {
class Client;
struct Call;
}  // namespace ws

namespace ws::sync {

/// Hands each document to `visit` and answers the page without them. A page that is cut on its way is asked for again
/// like any call: its documents then come again from the first. A document whose text cannot be read comes without it;
/// a page that is no JSON is an unusable answer. Fails as the call or `visit` does, too.
Result<Json> stream_page(Client& client, const Call& call, const std::function<Result<void>(PulledItem item)>& visit);

}  // namespace ws::sync
