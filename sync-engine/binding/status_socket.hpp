/// `.ws/watch.sock`: where a running watch hands out the status that it knows, so that `ws sync status` need not walk
/// the tree.
///
/// Whoever connects gets one text and the end of the stream; nothing is read from them. Both ends talk to processes of
/// the same user only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "api-client/base/descriptor.hpp"
#include "api-client/base/result.hpp"
#include "sync-engine/binding/ws_folder.hpp"

namespace ws::sync {

/// A longer text is not handed out: it fits into a socket's buffer, so that nobody has to wait for a reader.
inline constexpr std::size_t max_status_bytes = std::size_t{128} << 10U;

class StatusSocket {
 public:
  /// Replaces the socket of an earlier watch. `ws` outlives it. Fails with `disk`: some file systems have no sockets.
  static Result<StatusSocket> listen(const WsFolder& ws);
  StatusSocket(StatusSocket&&) noexcept = default;
  StatusSocket& operator=(StatusSocket&&) = delete;
  ~StatusSocket();  ///< removes it, unless another watch has replaced it

  int fd() const { return listening_.get(); }
  /// Accepts those who are connecting. Whether somebody waits for an answer.
  bool is_asked();
  /// Sends the text to all of them, and hangs up. Empty: the status is not known.
  void answer(std::string_view text);

 private:
  StatusSocket(const WsFolder& ws, Descriptor listening, ino_t inode)
      : ws_(&ws), listening_(std::move(listening)), inode_(inode) {}

  const WsFolder* ws_;
  Descriptor listening_;
  ino_t inode_;  ///< of its file
  std::vector<Descriptor> waiting_ = {};
};

/// What a running watch answers; empty: none runs, it is busy, or it does not know. Waits 20 ms at most.
std::optional<std::string> ask_watch(const WsFolder& ws);

}  // namespace ws::sync
