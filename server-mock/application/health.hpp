/// `ws-mock health`: whether a server answers, for the health checks of containers, where there is no curl.
#pragma once

#include "api-client/base/result.hpp"
#include "server-mock/http/address.hpp"

namespace ws::mock {

/// Asks the server at `address` for `/_mock/health` over plain HTTP; a wildcard address means this machine. Any HTTP
/// answer below 500 counts, also 401 where the control token is missing. Fails with `unreachable` after 3 s of silence.
Result<void> check_health(const http::Address& address);

}  // namespace ws::mock
