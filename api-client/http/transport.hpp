/// The network interface: exchanges one at a time or many at once, each sent at most once.
///
/// A transport makes no decisions: it never retries, follows a redirect or adds a credential. It reports exactly how
/// far an exchange came, since that decides whether it may be retried (`retry.hpp`). `http/curl.*` is the only real
/// implementation; tests have one in memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api-client/base/result.hpp"

namespace ws::http {

using Headers = std::vector<std::pair<std::string, std::string>>;
/// The first value of header `name`, compared without regard to case.
std::optional<std::string_view> find_header(const Headers& headers, std::string_view name);

/// The Content-Encoding of an answer; empty where the bytes are as they are.
std::string encoding_of(const Headers& headers);

/// Whether the text is a token (RFC 9110, 5.6.2). Variants of a known header (`Host `, `X:y`) are not.
bool is_header_name(std::string_view text);
/// Whether the value has no CR, LF or NUL.
bool is_header_value(std::string_view text);
/// Whether the text can be sent as a credential: visible ASCII, not empty.
bool is_credential(std::string_view text);

/// A request body that need not be in memory.
class BodySource {
 public:
  BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;
  virtual ~BodySource() = default;
  virtual std::uint64_t size_bytes() const = 0;
  /// Fills `buffer` with at most `capacity` bytes and returns their number; 0 at the end. Fails with `disk`.
  virtual Result<std::size_t> read(char* buffer, std::size_t capacity) = 0;
};

/// Receives the decoded pieces of a successful (2xx) body; a failure ends the exchange. Other bodies are
/// collected.
using Sink = std::function<Result<void>(std::string_view piece)>;

/// Receives status and headers of a successful (2xx) response before the sink's first piece; a failure ends the
/// exchange. Not called if the body is empty.
using HeadSink = std::function<Result<void>(int status, const Headers& headers)>;

/// Which idle connection may be reused: a server may close one just as the request is sent, and it is then unknown
/// whether it received the request. `recent`: one that was used within the last 2 s, which hardly any server closes.
enum class Connection { any, recent };

struct Request {
  std::string method = "GET";
  std::string url = {};
  Headers headers = {};
  std::string body = {};
  BodySource* source = nullptr;                             ///< instead of `body`; must outlive the exchange
  Sink sink = {};                                           ///< empty: the body is collected
  HeadSink head = {};                                       ///< with `sink`: receives status and headers
  std::uint64_t max_body_bytes = std::uint64_t{32} << 20U;  ///< decoded; a larger body ends with `too_large`
  std::chrono::milliseconds timeout{120'000};               ///< for the whole exchange; 0: none
  std::chrono::milliseconds idle_timeout{0};                ///< without data, or below 16 bytes/s; 0: none
  Connection connection = Connection::any;
};

struct Response {
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

/// The reason why an exchange has no complete response.
struct TransportError {
  enum class Stage {
    nothing_sent,  ///< DNS, connect: the server saw nothing
    tls,           ///< the handshake failed: the server saw no request
    no_answer,     ///< the server may have received the request; the response is missing or truncated
    too_large,     ///< the response exceeds `max_body_bytes`
    unusable,      ///< the response violates the protocol: bad framing, bad encoding
    sink,          ///< the sink or the source failed; see `reason`
    cancelled,
  };
  Stage stage = Stage::nothing_sent;
  Failure reason = {};
};

using Outcome = std::variant<Response, TransportError>;

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Starts an exchange; `done` is called from `run`, never from here. Exchanges may end in any order.
  virtual void start(Request request, std::function<void(Outcome)> done) = 0;
  /// Progresses all exchanges, waiting at most `at_most` for activity; also without exchanges, so that a caller can
  /// wait here. A signal ends the wait.
  virtual void run(std::chrono::milliseconds at_most) = 0;
  /// The number of pending exchanges.
  virtual std::size_t under_way() const = 0;
  /// Ends all exchanges with `cancelled` before it returns. Idempotent.
  virtual void cancel_all() = 0;

  /// Makes one exchange; other pending ones progress meanwhile.
  Outcome send(Request request);
};

/// "https://host:port" of a URL, in lower case and with the default port; empty if it is not an absolute http(s) URL,
/// has a user name, or a host that parsers may read differently (`\`, `%`, blanks).
std::string origin_of(std::string_view url);
/// Whether the host of an origin or URL is loopback: localhost, 127.0.0.0/8, [::1].
bool is_loopback(std::string_view url);
/// Whether a key may be sent to the URL: over https, over plain http to loopback, and to the hosts that `allowed` names
/// exactly (`WS_ALLOW_HTTP`: host[:port],...).
bool may_take_key(std::string_view url, std::string_view allowed);
/// Whether an address that the service at `base_url` named may be called: https, the service's own origin, or loopback
/// if the service is on loopback.
bool may_lead_to(std::string_view url, std::string_view base_url);

}  // namespace ws::http
