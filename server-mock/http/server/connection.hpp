/// HTTP/1.1 with one client, without the socket: bytes in, bytes out.
///
/// Supports keep-alive, pipelining, chunked bodies, `Expect: 100-continue` and HEAD. Rejects everything that two
/// parsers could read differently (RFC 9112, 6.3 and 11.2): both length and transfer coding, repeated lengths, folded
/// fields, bare CR or LF, control characters. The connection closes after a rejected message, since the begin of the
/// next message is unknown.
///
/// The transport does what `step()` says: it writes into `room()` and calls `received`; it sends `output()` and calls
/// `sent`. A request that is pending, or a response that is delayed or streamed, blocks the requests behind it in the
/// pipeline and no others.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "server-mock/http/message.hpp"

namespace ws::mock::http {

/// How many bytes all connections of a server hold together: requests not yet answered, answers not yet sent.
///
/// Each connection is bounded by its `Limits`; this bounds their sum.
class Budget {
 public:
  explicit Budget(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  bool allows(std::size_t more_bytes) const { return held_bytes_ + more_bytes <= max_bytes_; }
  /// No new request is read. The limit is a quarter above `allows`, so that clients with large requests do not lock out
  /// those with small ones.
  bool is_exhausted() const { return held_bytes_ > max_bytes_ + max_bytes_ / 4; }
  std::size_t held_bytes() const { return held_bytes_; }
  /// One connection now holds `now_bytes` instead of `before_bytes`.
  void replace(std::size_t before_bytes, std::size_t now_bytes) { held_bytes_ += now_bytes - before_bytes; }

 private:
  std::size_t max_bytes_;
  std::size_t held_bytes_ = 0;
};

struct Limits {
  std::size_t head_bytes = std::size_t{64} << 10U;   ///< request line and header fields together; 431 above
  std::size_t held_bytes = std::size_t{256} << 20U;  ///< of all connections together (`Budget`); 503 above
};

class Connection {
 public:
  /// What the connection waits for; decides the timeout.
  enum class Phase { idle, head, body, stream };
  enum class Step {
    read,   ///< into `room()`, then `received`
    send,   ///< `output()`, then `sent`
    pause,  ///< for `pause()`, then `waited`
    hang,   ///< send nothing more; ends when the client disconnects
    end,    ///< close
  };

  /// `budget` is shared by all connections and outlives them; null: no budget.
  explicit Connection(Handler& handler, const Limits& limits = {}, Budget* budget = nullptr);
  Connection(Connection&&) noexcept;
  ~Connection();

  Step step();
  /// Where the next bytes of the client are written; never empty.
  std::span<char> room();
  void received(std::size_t count);
  /// Unchanged until `sent`, whatever is answered meanwhile.
  const std::string& output();
  /// The output was sent; continues with buffered input.
  void sent();
  std::chrono::milliseconds pause() const;
  void waited();
  /// The connection ends with a TCP reset.
  bool resets() const;
  /// The connection closes before the announced length is reached: by a fault rule, or because a source failed.
  bool breaks_off() const;
  /// Nothing is read any more once the output is sent.
  bool is_over() const;
  Phase phase() const;
  /// The server lets the client wait: a request is pending or a response delayed. Client timeouts do not apply.
  bool takes_its_time() const;
  /// Number of messages answered so far.
  std::uint64_t answered() const;
  /// The ticket of the pending request; empty if there is none.
  std::optional<std::uint64_t> ticket() const;
  /// Serves the pending request again. True: it is answered.
  bool resume(MayWait may_wait);
  /// The client was too slow: an incomplete message is answered with 408.
  void timed_out();
  /// The server stops: the connection closes after the responses to complete requests.
  void wind_up();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ws::mock::http
