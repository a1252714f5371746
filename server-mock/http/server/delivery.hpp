/// A response that is not sent in one piece: its body is read from a source, or a fault rule delays or cuts it.
///
/// Decides when to send what; the transport does the waiting and the sending.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server-mock/http/message.hpp"

namespace ws::mock::http {

enum class Keep { no, yes };  ///< the connection

/// Status line, header fields, empty line.
void append_head(std::string& out, const Response& answer, Keep keep);

class Delivery {
 public:
  /// `head` ends with the empty line. The body is sent if `body` says so.
  Delivery(Response&& answer, std::string head, WithBody body);

  /// How long to wait before sending; `waited` ends it.
  std::chrono::milliseconds pause() const { return pause_; }
  void waited() { pause_ = std::chrono::milliseconds{0}; }
  /// The remaining delays are skipped.
  void hurry();
  /// Appends the next bytes to send; a pause may follow.
  void fill(std::string& out);

  bool hangs() const { return wire_fault_.end == WireFault::End::hang; }
  bool resets() const { return wire_fault_.end == WireFault::End::reset; }
  bool is_done() const;
  bool is_disturbed() const { return wire_fault_ != WireFault(); }
  /// The sent bytes are not a complete response, or not the announced one.
  bool ends_connection() const { return ends_connection_; }

 private:
  void fill_from_source(std::string& out, std::size_t at_most);

  Response answer_;
  WireFault wire_fault_ = {};
  std::string text_ = {};           // head, and the part of the body that is in memory
  std::size_t at_ = 0;              // bytes of `text_` already sent
  std::uint64_t source_bytes_ = 0;  // not yet sent
  std::chrono::milliseconds pause_{0};
  bool ends_connection_ = false;
};

// Response compression with gzip. The only user of zlib.

/// Whether `Accept-Encoding` accepts gzip (RFC 9110, 12.5.3), with a weight not below that of `identity`.
bool wants_gzip(std::string_view accept_encoding);

/// Compresses JSON and other text of at least 1 KiB if the request accepts gzip; sets `Vary` in either case. Responses
/// with a source or a wire fault are not compressed. `ETag` stays the same: it names the revision, and clients do not
/// compare bytes by it.
void pack_for(const Request& request, Response& response);

}  // namespace ws::mock::http
