/// A request and its response as the rest of the server sees them: plain values, no Beast, no socket.
///
/// A `Request` points into the connection's buffer and is valid only during the call that receives it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api-client/base/ascii.hpp"

namespace ws::mock::http {

// The part of a fault rule that acts while a response is sent.
//
// Delays are in real time, independent of the mock's clock. A fault on one connection does not delay others.

struct WireFault {
  enum class End {
    as_usual,
    hang,                  ///< sends nothing until the client disconnects
    reset,                 ///< TCP RST instead of a response
    close_without_answer,  ///< FIN instead of a response
  };
  End end = End::as_usual;
  std::chrono::milliseconds delay{0};             ///< before the first byte
  std::optional<std::uint64_t> truncate_at = {};  ///< bytes of the body that are still sent; then the connection closes
  std::optional<std::uint64_t> content_length = {};  ///< announced instead of the real length
  std::uint64_t dribble_bytes = 0;  ///< size of the pieces in which head and body are sent; 0: sent at once
  std::chrono::milliseconds dribble_every{0};

  bool operator==(const WireFault&) const = default;
};

// Streams for bodies that are too large for memory.
//
// A `Handler` opens a sink for a request body that it wants to receive in pieces; a response can carry a source
// instead of text. The server's one thread calls both; they may block on nothing but the local disk.

/// Receives the body of one request, which is then handled with its sink in `Request::sink`. If the client does not
/// send the whole body, the sink is destroyed without that call and must leave nothing behind.
class BodySink {
 public:
  BodySink() = default;
  BodySink(const BodySink&) = delete;
  BodySink& operator=(const BodySink&) = delete;
  virtual ~BodySink() = default;

  /// False: the response is already known. The request is then handled at once, even before `100 Continue`, and the
  /// connection closes after the response, since the rest of the body is not read.
  virtual bool wants_more() const = 0;
  /// The next bytes of the body, without chunk framing.
  virtual void take(std::string_view piece) = 0;
  /// Bytes received so far, for the journal.
  virtual std::uint64_t taken_bytes() const = 0;
};

/// The body of one response.
class BodySource {
 public:
  BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;
  virtual ~BodySource() = default;

  /// Size of the whole body: the `Content-Length`.
  virtual std::uint64_t size_bytes() const = 0;
  /// Copies the next bytes into `room` and returns their number. 0 means that the source failed: the connection is
  /// closed before the announced length is reached.
  virtual std::size_t read(std::span<char> room) = 0;
};

struct Header {
  std::string_view name = {};
  std::string_view value = {};
};

struct Request {
  std::string_view method = {};  ///< "GET", as received
  std::string_view target = {};  ///< as received: "/v1/documents?limit=5"
  std::string_view path = {};    ///< still percent-encoded: "/v1/documents"
  std::string_view query = {};   ///< without the question mark
  std::string_view head = {};    ///< request line and header fields as received, for the journal
  std::vector<Header> headers = {};
  std::string_view body = {};
  BodySink* sink = nullptr;  ///< instead of `body`: the sink that the handler opened, with the whole body

  /// The first header field of that name, compared without case; empty if there is none.
  std::optional<std::string_view> find(std::string_view name) const;
};

/// False for a head that two parsers could read differently (request smuggling): bare CR or LF, folded lines, control
/// characters.
bool is_plain_head(std::string_view head);

/// Reads a head again that was kept: request line and header fields. What is no field is left out.
Request read_head(std::string_view head);

/// Sets path and query from the target; an absolute form ("http://host/path") loses its origin.
void split_target(Request& request);

enum class WithBody { yes, no };

/// Whether a header field can have the name (a token) and the value (one line: another would be another field).
bool is_field_name(std::string_view name);
bool is_field_value(std::string_view value);

/// A response. Header fields are kept in wire format, as one string.
class Response {
 public:
  Response() = default;
  explicit Response(int status) : status_(status) {}

  /// No response yet: the server calls `Handler::resume` with this ticket later.
  static Response later(std::uint64_t ticket) {
    Response response;
    response.ticket_ = ticket;
    return response;
  }

  /// Control characters in the value become spaces, so a value cannot add header fields (response splitting).
  Response& header(std::string_view name, std::string_view value) &;
  Response&& header(std::string_view name, std::string_view value) && { return std::move(header(name, value)); }
  Response& body(std::string_view content_type, std::string text);
  /// Replaces the body text and keeps its content type.
  Response& text(std::string text);
  Response& set_header(std::string_view name, std::string_view value);
  Response& remove_header(std::string_view name);
  /// Changes the value of the header field, if there is one.
  Response& rewrite_header(std::string_view name, std::string (*change)(std::string_view));
  bool has_header(std::string_view name) const { return line_of(name) != std::string::npos; }
  /// The value of the first header field of that name; empty if there is none.
  std::string_view find(std::string_view name) const;
  /// Passes all header fields and the body text, in wire format, through a function.
  Response& rewrite(std::string (*change)(std::string));
  /// A body that is read from a source while it is sent.
  Response& body(std::string_view content_type, std::unique_ptr<BodySource> source);
  /// Sends `Content-Length` but no body: HEAD, 304.
  void leave_body_out() { with_body_ = WithBody::no; }
  /// The connection closes after this response.
  void close() { closes_ = true; }
  void set_wire_fault(const WireFault& wire_fault) { wire_fault_ = wire_fault; }

  int status() const { return status_; }
  const std::string& headers() const { return headers_; }
  const std::string& text() const { return body_; }
  BodySource* source() const { return source_.get(); }
  /// Statuses that have neither a body nor a length (RFC 9110, 15.3.5 and 15.4.5).
  bool is_bodiless() const { return status_ == 204 || status_ == 304; }
  std::uint64_t body_bytes() const { return source_ ? source_->size_bytes() : body_.size(); }
  WithBody with_body() const { return with_body_; }
  bool closes() const { return closes_; }
  std::optional<std::uint64_t> ticket() const { return ticket_; }
  const std::optional<WireFault>& wire_fault() const { return wire_fault_; }

 private:
  std::size_t line_of(std::string_view name) const;

  int status_ = 200;
  std::string headers_ = {};
  std::string body_ = {};
  std::unique_ptr<BodySource> source_ = {};
  WithBody with_body_ = WithBody::yes;
  bool closes_ = false;
  std::optional<std::uint64_t> ticket_ = {};
  std::optional<WireFault> wire_fault_ = {};
};

/// "Not Found"; empty for an unknown status.
std::string_view reason_phrase(int status);

/// Why a message was rejected before it was routed.
struct MalformedRequest {
  int status = 400;              ///< 400, 408, 413, 417, 431, 503
  std::string_view code = {};    ///< "invalid_request"
  std::string_view reason = {};  ///< one sentence
};

/// Whether a pending request may stay pending.
enum class MayWait { yes, no };

/// Handles requests. Called from one thread, and never blocks: a request that has to wait is answered with
/// `Response::later(ticket)` and resumed when `take_ready` returns its ticket.
class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  /// Called when the head is complete and the body is not: how many bytes of the body may be kept in memory.
  virtual std::size_t body_limit(const Request& head) = 0;
  /// Called at the same time: the sink for a body of any size. Null: `handle` gets the body from memory.
  virtual std::unique_ptr<BodySink> open_sink(const Request& head);
  virtual Response handle(const Request& request) = 0;
  /// The response to a malformed request; the connection closes after it.
  virtual Response refuse(const MalformedRequest& why) = 0;

  /// Serves a pending request again: its response, or the same ticket. With `MayWait::no` it must be a response.
  virtual Response resume(std::uint64_t ticket, const Request& request, MayWait may_wait);
  /// The client of this pending request has disconnected.
  virtual void cancel(std::uint64_t ticket);
  /// Tickets of requests that should be resumed now, each once. Called until it returns none.
  virtual std::vector<std::uint64_t> take_ready();
  /// Time until a ticket may become ready by itself; empty: never.
  virtual std::optional<std::chrono::milliseconds> next_ready();
  /// Work of its own, a few milliseconds of it, done while no request is there. False: nothing is left.
  virtual bool work();
};

}  // namespace ws::mock::http
