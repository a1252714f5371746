/// Listens, accepts, and moves bytes between sockets and `Connection`s, through TLS if an identity is given.
///
/// Everything runs on one thread, so calls of a `Handler` never overlap.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "api-client/base/result.hpp"
#include "server-mock/http/address.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/server/connection.hpp"
#include "server-mock/http/tls/tls.hpp"

namespace ws::mock::http {

struct ServerOptions {
  Address listen = {};
  Limits limits = {};
  std::optional<TlsIdentity> tls = {};     ///< empty: plain HTTP
  std::chrono::milliseconds idle{75'000};  ///< timeout of a kept-alive connection without a request
  std::chrono::milliseconds idle_exit{0};  ///< the server stops after so long without a byte from any client; 0: never
  std::chrono::milliseconds slow{30'000};  ///< timeout of an incomplete message and of an unread response
  std::size_t connections = 20'000;        ///< at most at once; further clients wait in the backlog
};

class Server {
 public:
  /// Binds and listens. Fails with `unreachable`, naming the address, or `invalid` if OpenSSL rejects the identity.
  /// `handler` outlives the server.
  static Result<std::unique_ptr<Server>> listen(const ServerOptions& options, Handler& handler);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  std::uint16_t port() const;  ///< 0 for a Unix socket
  /// `Address::url`; "https://..." with TLS.
  std::string base_url() const;

  /// Serves until `stop`, completes current requests and returns.
  void run();
  /// May be called from any thread and from within a handler.
  void stop();

 private:
  class State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ws::mock::http
