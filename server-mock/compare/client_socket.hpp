/// One connection of a client to the recording proxy: blocking HTTP/1.1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"
#include "api-client/http/transport.hpp"

namespace ws::mock::compare {

struct RequestHead {
  std::string method = {};
  std::string target = {};
  ws::http::Headers headers = {};
  std::optional<std::uint64_t> length = {};  ///< empty: chunked
  bool closes = false;
};

class ClientSocket {
 public:
  explicit ClientSocket(int socket) : socket_(socket) {}
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;
  ~ClientSocket();

  /// Empty at the end of the connection, or if the bytes are not a valid request.
  std::optional<RequestHead> read_head();
  /// Reads at most `capacity` bytes of the body; 0: the connection was closed.
  std::size_t read(char* buffer, std::size_t capacity);
  /// Reads the whole body of a chunked request. Empty if it is malformed or larger than `limit`.
  std::optional<std::string> read_chunks(std::size_t limit);
  bool write(std::string_view bytes);

 private:
  bool fill();
  std::optional<std::string> read_line();

  int socket_;
  std::string bytes_ = {};
};

}  // namespace ws::mock::compare
