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
#include "server-mock/http/conversation.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/http/tls.hpp"

namespace ws::mock::http {

/// Where a server listens: "127.0.0.1:0", "[::1]:8080". Port 0: any free one.
struct Address {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string unix_path = {};  ///< not empty: a Unix socket in place of both

  static Result<Address> parse(std::string_view text);  ///< Fails with `invalid`.
  bool is_loopback() const;
  bool is_wildcard() const { return unix_path.empty() && (host == "0.0.0.0" || host == "::"); }
  /// "http://127.0.0.1:4711"; a wildcard address is called by the loopback's name, a Unix socket "http://localhost".
  std::string url(std::string_view scheme, std::uint16_t bound_port) const;
};

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
