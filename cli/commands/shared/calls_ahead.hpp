/// Calls that are under way while the answers of earlier ones are worked off: on a slow network the next answer is
/// there when it is asked for.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "api-client/client/client.hpp"

namespace ws::cli {

/// So many reads are asked for at a time, where several are known.
inline constexpr std::size_t reads_ahead = 8;

class CallsAhead {
 public:
  /// The client outlives it.
  explicit CallsAhead(Client& client) : client_(client) {}

  std::size_t size() const { return calls_.size(); }  ///< those that were not taken
  /// Sends it, as far as that needs no waiting.
  void start(Call call);
  /// Waits for the answer of the oldest one; there must be one.
  Result<Reply> take();

 private:
  using Ended = std::shared_ptr<std::optional<Result<Reply>>>;

  Client& client_;
  std::deque<Ended> calls_;
};

}  // namespace ws::cli
