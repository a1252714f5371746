/// The sockets: listens, accepts, moves bytes between them and `Conversation`s, through TLS where an identity is given.
///
/// One thread runs it all; a `Handler` is never called from two.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/http/address.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/server/conversation.hpp"
#include "server-mock/http/tls/tls.hpp"

namespace ws::mock::http {

struct ServerOptions {
  Address listen = {};
  Limits limits = {};
  std::optional<TlsIdentity> tls = {};     ///< empty: plain HTTP
  std::chrono::milliseconds idle{75'000};  ///< a kept connection without a request
  std::chrono::milliseconds idle_exit{0};  ///< ends by itself after so long without a byte from anybody; 0: never
  std::chrono::milliseconds slow{30'000};  ///< a message that does not end, an answer that is not taken
  std::size_t connections = 20'000;        ///< at once; who comes then is let in when another leaves
};

class Server {
 public:
  /// Binds and listens. Fails with `unreachable`, naming the address, or `invalid` where TLS does not take the
  /// identity. `handler` outlives the server.
  static Result<std::unique_ptr<Server>> listen(const ServerOptions& options, Handler& handler);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  std::uint16_t port() const;  ///< 0 with a Unix socket
  /// `Address::url`, "https://..." with TLS.
  std::string base_url() const;

  /// Serves until `stop`, SIGTERM or SIGINT; then ends what is under way and returns.
  void run();
  /// From any thread, and from within a handler.
  void stop();

 private:
  class State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ws::mock::http
