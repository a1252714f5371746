#include "tests/support/relay.hpp"

#include <algorithm>
#include <array>

#include "api-client/base/ascii.hpp"

namespace ws::test {
namespace {

bool is_of_the_hop(std::string_view name) {
  constexpr std::array<std::string_view, 6> hop = {
      "host", "content-length", "connection", "transfer-encoding", "accept-encoding", "expect"};
  return std::ranges::find(hop, to_lower(name)) != hop.end();
}

std::vector<std::string> headers_of(const Seen& seen) {
  std::vector<std::string> lines;
  std::size_t begin = seen.head.find("\r\n");
  while (begin != std::string::npos && begin + 2 < seen.head.size()) {
    const std::size_t end = std::min(seen.head.find("\r\n", begin + 2), seen.head.size());
    const std::string line = seen.head.substr(begin + 2, end - begin - 2);
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && !is_of_the_hop(line.substr(0, colon))) lines.push_back(line);
    begin = end == seen.head.size() ? std::string::npos : end;
  }
  return lines;
}

/// The request with its original bytes and its own length.
std::string request_of(const Seen& seen) {
  std::string text = seen.method + " " + seen.target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n";
  for (const std::string& line : headers_of(seen)) text += line + "\r\n";
  if (!seen.body.empty() || seen.method != "GET")
    text += "Content-Length: " + std::to_string(seen.body.size()) + "\r\n";
  return text + "\r\n" + seen.body;
}

}  // namespace

Relay::Relay(const MockProcess& server, Meddler meddler)
    : hostile_([port = server.port(), meddler = std::move(meddler)](const Seen& seen) {
        const Forward forward = [&seen, port] {
          RawConnection connection(port);
          connection.send(request_of(seen));
          const auto answer = connection.read();
          if (!answer) return Script{CloseConnection{}};
          Headers headers;
          for (const auto& [name, value] : answer->headers) {
            if (!is_of_the_hop(name)) headers.emplace_back(name, value);
          }
          return test::answer(answer->status, answer->body, headers);
        };
        return meddler(seen, forward);
      }) {}

}  // namespace ws::test
