/// An answer that does not go out in one piece: its body is read from a source, or it is disturbed on its way.
///
/// Tells when and what, and leaves the waiting and the sending to the transport.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "server-mock/http/disturbance.hpp"
#include "server-mock/http/message.hpp"

namespace ws::mock::http {

enum class Keep { no, yes };  ///< the connection

/// Status line, fields, empty line.
void append_head(std::string& out, const Response& answer, Keep keep);

class Delivery {
 public:
  /// `head` up to and with the empty line. The answer's body goes out if `body` says so.
  Delivery(Response&& answer, std::string head, WithBody body);

  /// So long nothing is sent; `waited` ends it.
  std::chrono::milliseconds pause() const { return pause_; }
  void waited() { pause_ = std::chrono::milliseconds{0}; }
  /// From here on nothing is late.
  void hurry();
  /// Appends what goes out next; a pause may follow.
  void fill(std::string& out);

  bool hangs() const { return disturbance_.end == Disturbance::End::hang; }
  bool resets() const { return disturbance_.end == Disturbance::End::reset; }
  bool is_done() const;
  bool is_disturbed() const { return disturbance_ != Disturbance(); }
  /// The bytes that went out are no whole answer, or not the one that was told.
  bool ends_connection() const { return ends_connection_; }

 private:
  void fill_from_source(std::string& out, std::size_t at_most);

  Response answer_;
  Disturbance disturbance_ = {};
  std::string text_ = {};           // head, and the body that lies in memory
  std::size_t at_ = 0;              // of what went out
  std::uint64_t source_bytes_ = 0;  // still to go out
  std::chrono::milliseconds pause_{0};
  bool ends_connection_ = false;
};

}  // namespace ws::mock::http
