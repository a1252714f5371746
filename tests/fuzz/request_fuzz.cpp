// The mock's parser of requests: heads, chunks, their extensions and trailers, in pieces as a network cuts them. Every
// call takes bytes or wants more.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <boost/asio/buffer.hpp>

#include "server-mock/http/server/request_parser.hpp"
#include "tests/fuzz/target.hpp"

void ws_fuzz_one(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t piece = static_cast<unsigned char>(bytes.front()) + std::size_t{1};
  const std::string text(bytes.substr(1));
  ws::mock::http::Parser parser(std::size_t{64} << 10U, {});
  parser.eager(true);
  std::size_t taken = 0;
  for (std::size_t end = std::min(piece, text.size());; end = std::min(end + piece, text.size())) {
    boost::system::error_code error;
    while (taken < end && !parser.is_done()) {
      const std::size_t now = parser.put(boost::asio::buffer(text.data() + taken, end - taken), error);
      if (now > end - taken) std::abort();
      taken += now;
      if (error || now == 0) break;
    }
    if (parser.is_done() || (error && error != boost::beast::http::error::need_more)) return;
    if (end == text.size()) return;
  }
}
