/// HTTP/1.1 with one client, without the socket: bytes in, bytes out.
///
/// Keep-alive, pipelining, chunked bodies, `Expect: 100-continue`, HEAD; and a refusal of everything that two readers
/// could read differently (RFC 9112, 6.3 and 11.2): both length and coding, a length given twice, folded fields, bare
/// CR or LF, control characters. A message that is refused ends the conversation, since nobody knows where the next
/// begins.
///
/// The transport does what `step()` says: writes into `room()` and calls `received`; sends `output()` and calls `sent`.
/// A request that the handler leaves waiting, or whose answer is disturbed or read from a source, holds up those behind
/// it in the pipeline, and nothing else.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server-mock/http/message.hpp"

namespace ws::mock::http {

/// How many bytes all connections of a server hold together: requests not yet answered, answers not yet sent.
///
/// Each connection is bounded by its `Limits`; this bounds their sum.
class Budget {
 public:
  explicit Budget(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  bool allows(std::size_t more_bytes) const { return held_bytes_ + more_bytes <= most_bytes_; }
  /// Nothing new is begun. A quarter beyond `allows`: who sends much must not keep out those who send little.
  bool is_exhausted() const { return held_bytes_ > most_bytes_ + most_bytes_ / 4; }
  std::size_t held_bytes() const { return held_bytes_; }
  /// One of them holds `now_bytes` in place of `before_bytes`.
  void replace(std::size_t before_bytes, std::size_t now_bytes) { held_bytes_ += now_bytes - before_bytes; }

 private:
  std::size_t most_bytes_;
  std::size_t held_bytes_ = 0;
};

struct Limits {
  std::size_t head_bytes = std::size_t{64} << 10U;   ///< request line and fields together: 431 beyond
  std::size_t held_bytes = std::size_t{256} << 20U;  ///< for all clients together (`Budget`): 503 beyond
};

class Conversation {
 public:
  /// What it waits for, which decides how long it may take.
  enum class Phase { idle, head, body, stream };
  enum class Step {
    read,   ///< into `room()`
    send,   ///< `output()`
    pause,  ///< for `pause()`, then `waited`
    hang,   ///< nothing more is sent; ends when the client goes
    end,    ///< close
  };

  /// `budget`, which outlives it, is shared with others; null: it has no part in any.
  explicit Conversation(Handler& handler, const Limits& limits = {}, Budget* budget = nullptr);
  Conversation(Conversation&&) noexcept;
  ~Conversation();

  Step step();
  /// Where the next bytes of the client go; never empty.
  std::span<char> room();
  void received(std::size_t count);
  /// Stays as it is until `sent`, whatever is answered meanwhile.
  const std::string& output();
  /// The output has left; goes on with what is buffered.
  void sent();
  std::chrono::milliseconds pause() const;
  void waited();
  /// The connection ends with a reset.
  bool resets() const;
  /// It ends short of what was promised, on purpose or because a source broke.
  bool breaks_off() const;
  /// Nothing more is read once the output has left.
  bool is_over() const;
  Phase phase() const;
  /// It is not the client that is slow: a request waits, or an answer is late on purpose.
  bool takes_its_time() const;
  /// How many messages were answered so far.
  std::uint64_t answered() const;
  /// Of the request that waits; empty: none does.
  std::optional<std::uint64_t> ticket() const;
  /// Puts the request that waits again. True: it is answered.
  bool ask_again(Patience patience);
  /// The client was too slow: a message begun is answered with 408.
  void timed_out();
  /// The server stops: ends after the answers to what is under way.
  void wind_up();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ws::mock::http
