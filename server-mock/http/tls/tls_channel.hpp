/// TLS between a socket and a session: 1.2 and newer, HTTP/1.1 by ALPN. A translation unit of its own, since it takes
/// a compiler long.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/http/tls/asio_types.hpp"
#include "server-mock/http/tls/tls.hpp"

namespace ws::mock::http {

/// What all channels of a server share.
class TlsSettings {
 public:
  /// Fails with `invalid` where OpenSSL does not take the identity.
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

/// Both outlive it. Reading, writing and the rest are called one at a time; who cancels the socket ends them.
class TlsChannel {
 public:
  TlsChannel(Socket& socket, TlsSettings& settings);
  ~TlsChannel();

  Awaitable<ErrorCode> shake_hands();
  struct Moved {
    ErrorCode error = {};
    std::size_t count = 0;
  };
  Awaitable<Moved> read(std::span<char> room);
  /// All of it, or an error.
  Awaitable<ErrorCode> write(std::string_view bytes);
  /// Tells the client that this was all, and gives it that long to say the same.
  Awaitable<void> say_goodbye(std::chrono::milliseconds at_most);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ws::mock::http
