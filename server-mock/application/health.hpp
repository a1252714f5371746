/// `ws-mock health`: checks whether a server responds, for health checks of containers without curl.
#pragma once

#include "api-client/base/result.hpp"
#include "server-mock/http/address.hpp"

namespace ws::mock {

/// Requests `/_mock/health` from the server at `address` over plain HTTP; a wildcard address means this machine. Any
/// response below 500 counts, also 401 if the control token is missing. Fails with `unreachable` if there is no
/// response for 3 s.
Result<void> check_health(const http::Address& address);

}  // namespace ws::mock
