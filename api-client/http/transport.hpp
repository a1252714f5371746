/// The port to the network: one HTTP exchange at a time or many at once, each sent at most once.
///
/// A transport decides nothing: it never retries, never follows a redirect, never adds a credential. It says exactly
/// how far an exchange came, because that decides whether it may be repeated (`retry.hpp`). `http/curl.*` is the only
/// real implementation; tests have one in memory.
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
/// The first value of `name`, case ignored.
std::optional<std::string_view> find_header(const Headers& headers, std::string_view name);

/// Whether it is a token (RFC 9110, 5.6.2). What only looks like a known header (`Host `, `X:y`) is none.
bool is_header_name(std::string_view text);
/// Whether it stays on its line: no CR, LF, NUL.
bool is_header_value(std::string_view text);
/// Whether it can be sent as a credential: visible ASCII, at least one.
bool is_credential(std::string_view text);

/// Bytes to send that need not be in memory.
class BodySource {
 public:
  BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;
  virtual ~BodySource() = default;
  virtual std::uint64_t size_bytes() const = 0;
  /// Fills `buffer` with at most `capacity` bytes and says how many; 0 at the end. Fails with `disk`.
  virtual Result<std::size_t> read(char* buffer, std::size_t capacity) = 0;
};

/// Takes a decoded piece of a successful (2xx) body as it comes; a failure ends the exchange. Other bodies are
/// collected.
using Sink = std::function<Result<void>(std::string_view piece)>;

/// Sees status and headers of a successful (2xx) answer before the sink gets its first piece; a failure ends the
/// exchange. Not called where the body is empty.
using HeadSink = std::function<Result<void>(int status, const Headers& headers)>;

/// Whether a connection that has been idle may carry it: a server may close one just as the request is sent, and then
/// nobody knows whether it was seen. `fresh` makes a new one.
enum class Connection { any, fresh };

struct Request {
  std::string method = "GET";
  std::string url = {};
  Headers headers = {};
  std::string body = {};
  BodySource* source = nullptr;                             ///< instead of `body`; outlives the exchange
  Sink sink = {};                                           ///< empty: the body is collected
  HeadSink head = {};                                       ///< with `sink`: what the body belongs to
  std::uint64_t max_body_bytes = std::uint64_t{32} << 20U;  ///< decoded; more ends the exchange with `too_large`
  std::chrono::milliseconds timeout{120'000};               ///< of the whole exchange; 0: none
  std::chrono::milliseconds idle_timeout{0};                ///< without a byte, or with less than 16 a second; 0: none
  Connection connection = Connection::any;
};

struct Response {
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

/// Why an exchange has no complete answer.
struct Broken {
  enum class Stage {
    nothing_sent,  ///< DNS, connect: the server saw nothing
    tls,           ///< the handshake failed: the server saw no request
    no_answer,     ///< the request may have been seen; the answer is missing or cut
    too_large,     ///< the answer passed `max_body_bytes`
    unusable,      ///< the answer breaks the protocol: bad framing, bad encoding
    sink,          ///< the sink or the source failed; see `reason`
    cancelled,
  };
  Stage stage = Stage::nothing_sent;
  Failure reason = {};
};

using Outcome = std::variant<Response, Broken>;

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Begins an exchange; `done` is called from `run`, never from here. The order of ends is not that of the starts.
  virtual void start(Request request, std::function<void(Outcome)> done) = 0;
  /// Moves everything under way, waiting at most `at_most` for something to happen; also when nothing is under way, so
  /// that a caller may wait here for a time of its own. A signal ends the wait.
  virtual void run(std::chrono::milliseconds at_most) = 0;
  /// How many exchanges are under way.
  virtual std::size_t under_way() const = 0;
  /// Ends all of them with `cancelled`, from within this call. Safe to call again.
  virtual void cancel_all() = 0;

  /// One exchange from beginning to end; others under way move along.
  Outcome send(Request request);
};

/// "https://host:port" of a URL, lower case, the default port written out; empty where it is no absolute http(s) URL,
/// carries a user name, or has a host that two readers might read differently (`\`, `%`, blanks).
std::string origin_of(std::string_view url);
/// Whether the host of an origin or URL is loopback: localhost, 127.0.0.0/8, [::1].
bool is_loopback(std::string_view url);

}  // namespace ws::http
