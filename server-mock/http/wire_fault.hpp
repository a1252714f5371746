/// The part of a fault rule that acts while a response is sent.
///
/// Delays are in real time, independent of the mock's clock. A fault on one connection does not delay others.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace ws::mock::http {

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

}  // namespace ws::mock::http
