/// TLS 1.2 and newer between a socket and a session; ALPN offers HTTP/1.1. In a file of its own because it compiles
/// slowly.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/http/tls/asio_types.hpp"
#include "server-mock/http/tls/tls.hpp"

namespace ws::mock::http {

/// Shared by all channels of a server.
class TlsSettings {
 public:
  /// Fails with `invalid` if OpenSSL rejects the identity.
  static Result<TlsSettings> make(const TlsIdentity& identity);
  TlsSettings(TlsSettings&&) noexcept;
  TlsSettings& operator=(TlsSettings&&) noexcept;
  ~TlsSettings();

 private:
  friend class TlsChannel;
  struct State;
  explicit TlsSettings(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Context and socket outlive the channel. Operations do not overlap; cancelling the socket ends them.
class TlsChannel {
 public:
  TlsChannel(Socket& socket, TlsSettings& settings);
  ~TlsChannel();

  Awaitable<ErrorCode> shake_hands();
  /// Whether the handshake failed because the client speaks HTTP without TLS.
  static bool is_plain_http(const ErrorCode& error);
  struct Moved {
    ErrorCode error = {};
    std::size_t count = 0;
  };
  Awaitable<Moved> read(std::span<char> room);
  /// Writes everything or fails.
  Awaitable<ErrorCode> write(std::string_view bytes);
  /// Sends close_notify and waits so long for the client's.
  Awaitable<void> say_goodbye(std::chrono::milliseconds at_most);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ws::mock::http
