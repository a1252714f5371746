/// Streams for bodies that are too large for memory.
///
/// A `Handler` opens a sink for a request body that it wants to receive in pieces; a response can carry a source
/// instead of text. The server's one thread calls both; they may block on nothing but the local disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ws::mock::http {

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

}  // namespace ws::mock::http
