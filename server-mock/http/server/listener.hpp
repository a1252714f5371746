/// Where clients come in: a TCP port, or a Unix socket's file. For `server.cpp` alone.
#pragma once

#include <cstdint>

#include "api-client/base/result.hpp"
#include "server-mock/http/server/server.hpp"
#include "server-mock/http/tls/asio_types.hpp"

namespace ws::mock::http {

/// Binds and listens. The file of a socket is for its owner alone; one that a dead process left is replaced. Fails with
/// `unreachable`, naming the address. Raises this process's limit of open files, too: each client is one.
Result<void> open_listener(Acceptor& acceptor, const Address& address);

/// Nobody comes in any more; a socket's file is gone.
void close_listener(Acceptor& acceptor, const Address& address);

/// Of TCP; else 0.
std::uint16_t port_of(const Acceptor& acceptor);

}  // namespace ws::mock::http
