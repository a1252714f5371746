// Requests without an end, to the real `ws-mock`: each is refused at its bound, and others are served meanwhile.
#include <string>

#include <catch2/catch.hpp>

#include "tests/bounds/freezing_texts.hpp"
#include "tests/cli/workflow/stage.hpp"
#include "tests/support/raw_http.hpp"

namespace ws::test {
namespace {

struct EndlessRequest {
  const char* name = "";
  std::string begin = {};
  std::string part = {};  ///< again and again
  int status = 0;
};

/// The status of what the server says to a request that goes on for 64 MiB; 0 where it ends the connection unsaid.
int status_of(const MockProcess& server, const EndlessRequest& endless) {
  RawConnection connection(server.port());
  const std::string much = repeated(endless.part, std::size_t{64} << 10U);
  connection.send(endless.begin);
  for (int i = 0; i < 1024; ++i) connection.send(much);
  const auto answer = connection.read();
  return answer ? answer->status : 0;
}

}  // namespace

TEST_CASE("endless requests: heads, chunks, extensions and trailers are refused at their bounds", "[bounds]") {
  const MockProcess server;
  const std::string line = "POST /v1/documents HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  const std::string chunked = line + "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n";
  for (const EndlessRequest& endless :
       {EndlessRequest{"headers", line, "X-Header: value\r\n", 431},
        EndlessRequest{"one header", line + "X: ", "x", 431},
        EndlessRequest{"a target", "GET /", "x", 431},
        EndlessRequest{"chunks", chunked, "1000\r\n" + std::string(4096, 'x') + "\r\n", 413},
        EndlessRequest{"a chunk extension", chunked + "1;", "x", 400},
        EndlessRequest{"the size of a chunk", chunked, "0", 400},
        EndlessRequest{"trailers", chunked + "0\r\n", "X-Trailer: value\r\n", 400}}) {
    CAPTURE(endless.name);
    const int status = status_of(server, endless);
    // A server that closes while bytes still come may lose its answer to the reset; it has not read on.
    CHECK((status == endless.status || status == 0));
    CHECK(server.ask({.target = "/_mock/health"}).status < 500);
  }
}

}  // namespace ws::test
