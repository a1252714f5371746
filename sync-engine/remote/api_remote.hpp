/// The service through the API client. Copes with one that ignores filters or leaves out assumed fields.
#pragma once

#include <memory>

#include "sync-engine/remote/answers.hpp"
#include "sync-engine/remote/remote.hpp"

namespace ws {
class Client;
}

namespace ws::sync {

/// The client outlives it.
std::unique_ptr<Remote> make_api_remote(Client& client, PullBounds bounds = {});

}  // namespace ws::sync
