/// A request and its answer as the rest of the server sees them: plain values, no Beast, no socket.
///
/// A `Request` points into the connection's buffer and lives as long as the call that it is handed to.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server-mock/http/body.hpp"
#include "server-mock/http/disturbance.hpp"

namespace ws::mock::http {

struct Header {
  std::string_view name = {};
  std::string_view value = {};
};

struct Request {
  std::string_view method = {};  ///< "GET", as it came
  std::string_view target = {};  ///< as it came: "/v1/documents?limit=5"
  std::string_view path = {};    ///< still percent-encoded: "/v1/documents"
  std::string_view query = {};   ///< without the question mark
  std::string_view head = {};    ///< request line and header fields as they came, for the journal
  std::vector<Header> headers = {};
  std::string_view body = {};
  BodySink* sink = nullptr;  ///< in place of `body`: what the handler opened for it, with all that it took

  /// The first field of that name, whatever its case; empty where there is none.
  std::optional<std::string_view> find(std::string_view name) const;
};

/// False for text that could hide a second message from a laxer reader: CR or LF alone, a folded line, control
/// characters.
bool is_plain_head(std::string_view head);

/// Takes path and query out of the target; an absolute form ("http://host/path") loses its origin.
void split_target(Request& request);

enum class WithBody { yes, no };

/// What goes back. Header fields are kept as they go over the wire: one string, appended to once.
class Response {
 public:
  Response() = default;
  explicit Response(int status) : status_(status) {}

  /// No answer yet: the same request is put again under this ticket (`Handler::again`).
  static Response later(std::uint64_t ticket) {
    Response response;
    response.ticket_ = ticket;
    return response;
  }

  /// Control characters in the value become spaces: no answer can be split in two.
  Response& header(std::string_view name, std::string_view value) &;
  Response&& header(std::string_view name, std::string_view value) && { return std::move(header(name, value)); }
  Response& body(std::string_view content_type, std::string text);
  /// In place of the body's text, its type as it was; of a field of that name, whatever its case.
  Response& text(std::string text);
  Response& set_header(std::string_view name, std::string_view value);
  /// All header fields and the text, as they go over the wire, through a function.
  Response& rewrite(std::string (*change)(std::string));
  /// In place of a text: sent while it is read.
  Response& body(std::string_view content_type, std::unique_ptr<BodySource> source);
  /// The body is not sent, its length is: HEAD, 304.
  void leave_body_out() { with_body_ = WithBody::no; }
  /// The connection ends with this answer.
  void close() { closes_ = true; }
  void disturb(const Disturbance& disturbance) { disturbance_ = disturbance; }

  int status() const { return status_; }
  const std::string& headers() const { return headers_; }
  const std::string& text() const { return body_; }
  BodySource* source() const { return source_.get(); }
  /// By its status: no length either (RFC 9110, 15.3.5 and 15.4.5).
  bool is_bodiless() const { return status_ == 204 || status_ == 304; }
  std::uint64_t body_bytes() const { return source_ ? source_->size_bytes() : body_.size(); }
  WithBody with_body() const { return with_body_; }
  bool closes() const { return closes_; }
  std::optional<std::uint64_t> ticket() const { return ticket_; }
  const std::optional<Disturbance>& disturbance() const { return disturbance_; }

 private:
  int status_ = 200;
  std::string headers_ = {};
  std::string body_ = {};
  std::unique_ptr<BodySource> source_ = {};
  WithBody with_body_ = WithBody::yes;
  bool closes_ = false;
  std::optional<std::uint64_t> ticket_ = {};
  std::optional<Disturbance> disturbance_ = {};
};

/// "Not Found"; empty for a status without a name of its own.
std::string_view reason_phrase(int status);

/// Equal but for the case of ASCII letters.
bool equal_without_case(std::string_view a, std::string_view b);

/// Why a message was refused before anyone looked at what it asks for.
struct Unreadable {
  int status = 400;              ///< 400, 408, 413, 417, 431, 503
  std::string_view code = {};    ///< "bad_request"
  std::string_view reason = {};  ///< one sentence
};

/// Whether a request that waits may go on waiting.
enum class Patience { some, none };

/// Whom the requests are for. One thread calls; a call does not block. What has to wait is left with a ticket, and put
/// again when its ticket is ready.
class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  /// The head is in, the body is not: how many bytes of it are read into memory.
  virtual std::size_t body_limit(const Request& head) = 0;
  /// The same moment: who takes the body as a stream, whatever its size. Null: `handle` gets it, from memory.
  virtual std::unique_ptr<BodySink> open_sink(const Request& head);
  virtual Response handle(const Request& request) = 0;
  /// The answer to what is no request; the connection ends with it.
  virtual Response refuse(const Unreadable& why) = 0;

  /// A request that was left with this ticket: its answer, or the same ticket; without patience an answer.
  virtual Response again(std::uint64_t ticket, const Request& request, Patience patience);
  /// Nobody asks any more.
  virtual void forget(std::uint64_t ticket);
  /// Which requests are to be put again now, each once; asked until there are none.
  virtual std::vector<std::uint64_t> take_ready();
  /// In how long there may be one by itself; empty: never.
  virtual std::optional<std::chrono::milliseconds> next_ready();
};

}  // namespace ws::mock::http
