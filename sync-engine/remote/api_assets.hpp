/// Assets through the API client.
#pragma once

#include <memory>

#include "sync-engine/remote/assets.hpp"

namespace ws {
class Client;
}

namespace ws::sync {

/// The client outlives it.
std::unique_ptr<Assets> make_api_assets(Client& client);

}  // namespace ws::sync
