/// The listening socket: a TCP port or a Unix socket. Only for `server.cpp`.
#pragma once

#include <cstdint>

#include "api-client/base/result.hpp"
#include "server-mock/http/server/server.hpp"
#include "server-mock/http/tls/asio_types.hpp"

namespace ws::mock::http {

/// Binds and listens. A Unix socket gets mode 0600; a socket file left by a dead process is replaced. Raises the limit
/// of open files of this process, since each client needs one. Fails with `unreachable`, naming the address.
Result<void> open_listener(Acceptor& acceptor, const Address& address);

/// Stops accepting and removes the file of a Unix socket.
void close_listener(Acceptor& acceptor, const Address& address);

/// The TCP port; 0 for a Unix socket.
std::uint16_t port_of(const Acceptor& acceptor);

}  // namespace ws::mock::http
