/// What happens to an answer on its way, on purpose: the wire's side of a fault rule.
///
/// The times are real ones, whatever the world's clock says. A disturbed answer delays no other connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace ws::mock::http {

struct Disturbance {
  enum class End {
    as_usual,
    hang,                  ///< nothing is sent, until the client goes
    reset,                 ///< TCP RST instead of an answer
    close_without_answer,  ///< FIN instead of an answer
  };
  End end = End::as_usual;
  std::chrono::milliseconds delay{0};                ///< before the first byte
  std::optional<std::uint64_t> truncate_at = {};     ///< bytes of the body that still go out; then the connection ends
  std::optional<std::uint64_t> content_length = {};  ///< told in place of the true one
  std::uint64_t dribble_bytes = 0;                   ///< so many bytes of head and body at a time; 0: no dribbling
  std::chrono::milliseconds dribble_every{0};

  bool operator==(const Disturbance&) const = default;
};

}  // namespace ws::mock::http
