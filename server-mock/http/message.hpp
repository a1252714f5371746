/// A request and its answer as the rest of the server sees them: plain values, no Beast, no socket.
///
/// A `Request` points into the connection's buffer and lives as long as the call that it is handed to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

  /// The first field of that name, whatever its case; empty where there is none.
  std::optional<std::string_view> find(std::string_view name) const;
};

enum class WithBody { yes, no };

/// What goes back. Header fields are kept as they go over the wire: one string, appended to once.
class Response {
 public:
  Response() = default;
  explicit Response(int status) : status_(status) {}

  /// Control characters in the value become spaces: no answer can be split in two.
  Response& header(std::string_view name, std::string_view value);
  Response& body(std::string_view content_type, std::string text);
  /// The body is not sent, its length is: HEAD, 304.
  void leave_body_out() { with_body_ = WithBody::no; }
  /// The connection ends with this answer.
  void close() { closes_ = true; }

  int status() const { return status_; }
  const std::string& headers() const { return headers_; }
  const std::string& text() const { return body_; }
  WithBody with_body() const { return with_body_; }
  bool closes() const { return closes_; }

 private:
  int status_ = 200;
  std::string headers_ = {};
  std::string body_ = {};
  WithBody with_body_ = WithBody::yes;
  bool closes_ = false;
};

/// "Not Found"; empty for a status without a name of its own.
std::string_view reason_phrase(int status);

/// Equal but for the case of ASCII letters.
bool equal_without_case(std::string_view a, std::string_view b);

/// Why a message was refused before anyone looked at what it asks for.
struct Unreadable {
  int status = 400;              ///< 400, 408, 413, 417, 431
  std::string_view code = {};    ///< "bad_request"
  std::string_view reason = {};  ///< one sentence
};

/// Whom the requests are for. One thread calls; a call does not block.
class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  /// The head is in, the body is not: how many bytes of it are read into memory. (What takes a body as a stream, an
  /// upload say, says so here.)
  virtual std::size_t body_limit(const Request& head) = 0;
  virtual Response handle(const Request& request) = 0;
  /// The answer to what is no request; the connection ends with it.
  virtual Response refuse(const Unreadable& why) = 0;
};

}  // namespace ws::mock::http
