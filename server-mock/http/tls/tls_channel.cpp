#include "server-mock/http/tls/tls_channel.hpp"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace ws::mock::http {
namespace {

/// ALPN: selects HTTP/1.1 if the client offers it, else nothing.
int select_protocol(SSL*,
                    const unsigned char** chosen,
                    unsigned char* chosen_size,
                    const unsigned char* offered,
                    unsigned int offered_size,
                    void*) {
  static constexpr unsigned char spoken[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* found = nullptr;
  const int result = SSL_select_next_proto(&found, chosen_size, spoken, sizeof spoken, offered, offered_size);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

struct TlsSettings::State {
  asio::ssl::context context{asio::ssl::context::tls_server};
};

TlsSettings::TlsSettings(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsSettings::TlsSettings(TlsSettings&&) noexcept = default;
TlsSettings& TlsSettings::operator=(TlsSettings&&) noexcept = default;
TlsSettings::~TlsSettings() = default;

Result<TlsSettings> TlsSettings::make(const TlsIdentity& identity) {
  auto state = std::make_unique<State>();
  asio::ssl::context& context = state->context;
  SSL_CTX* raw = context.native_handle();
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
  // A client that closes after its response without close_notify has made no error.
  SSL_CTX_set_options(raw, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_alpn_select_cb(raw, select_protocol, nullptr);
  ErrorCode error;
  context.use_certificate_chain(asio::buffer(identity.certificate_pem), error);
  if (!error) context.use_private_key(asio::buffer(identity.key_pem), asio::ssl::context::pem, error);
  if (error) return fail(Failure::Kind::invalid, fmt::format("cannot use the certificate: {}", error.message()));
  return TlsSettings(std::move(state));
}

struct TlsChannel::State {
  State(Socket& tcp, asio::ssl::context& context) : socket(tcp), stream(tcp, context) {}
  Socket& socket;
  asio::ssl::stream<Socket&> stream;
};

TlsChannel::TlsChannel(Socket& socket, TlsSettings& settings)
    : state_(std::make_unique<State>(socket, settings.state_->context)) {}
TlsChannel::~TlsChannel() = default;

Awaitable<ErrorCode> TlsChannel::shake_hands() {
  const auto [error] = co_await state_->stream.async_handshake(asio::ssl::stream_base::server, as_values);
  co_return error;
}

bool TlsChannel::is_plain_http(const ErrorCode& error) {
  return error.category() == asio::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST;
}

Awaitable<TlsChannel::Moved> TlsChannel::read(std::span<char> room) {
  const auto [error, count] =
      co_await state_->stream.async_read_some(asio::buffer(room.data(), room.size()), as_values);
  co_return Moved{.error = error, .count = count};
}

Awaitable<ErrorCode> TlsChannel::write(std::string_view bytes) {
  const auto [error, count] =
      co_await asio::async_write(state_->stream, asio::buffer(bytes.data(), bytes.size()), as_values);
  co_return error;
}

Awaitable<void> TlsChannel::say_goodbye(std::chrono::milliseconds at_most) {
  Timer timer(state_->socket.get_executor(), at_most);
  timer.async_wait([&socket = state_->socket](const ErrorCode& error) {
    ErrorCode ignored;
    if (!error) socket.cancel(ignored);
  });
  co_await state_->stream.async_shutdown(as_values);
}

}  // namespace ws::mock::http
