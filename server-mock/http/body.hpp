/// Bodies that are too large for memory: taken and given piece by piece.
///
/// A `Handler` opens a sink for a request whose body it wants as a stream; an answer carries a source in place of text.
/// Both are called by the server's one thread and do not wait for anything but a local disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ws::mock::http {

/// Takes the body of one request, which is then handled with its sink in `Request::sink`. Where the client does not
/// send the body whole the sink is destroyed without that: nothing of it is to be left.
class BodySink {
 public:
  BodySink() = default;
  BodySink(const BodySink&) = delete;
  BodySink& operator=(const BodySink&) = delete;
  virtual ~BodySink() = default;

  /// False: the answer is known already. The request is handled at once, before `100 Continue` too, and the connection
  /// ends with the answer, since the rest of the body is not read.
  virtual bool wants_more() const = 0;
  /// The next bytes of the body, without the chunks' frames.
  virtual void take(std::string_view piece) = 0;
  /// How much that was, for the journal.
  virtual std::uint64_t taken_bytes() const = 0;
};

/// The body of one answer.
class BodySource {
 public:
  BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;
  virtual ~BodySource() = default;

  /// All of it: the answer's `Content-Length`.
  virtual std::uint64_t size_bytes() const = 0;
  /// Fills the front of `room` with the bytes that come next and returns how many; none: it cannot go on, and the
  /// connection ends short.
  virtual std::size_t read(std::span<char> room) = 0;
};

}  // namespace ws::mock::http
