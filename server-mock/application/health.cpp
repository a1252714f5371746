#include "server-mock/application/health.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "api-client/base/descriptor.hpp"

namespace ws::mock {
namespace {

constexpr time_t patience_seconds = 3;

/// The arguments of connect(2).
struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;
};

Result<SocketAddress> socket_address(const http::Address& address) {
  SocketAddress result;
  if (!address.unix_path.empty()) {
    sockaddr_un local = {};
    local.sun_family = AF_UNIX;
    if (address.unix_path.size() >= sizeof local.sun_path)
      return fail(Failure::Kind::usage, "the socket's path is too long");
    std::memcpy(local.sun_path, address.unix_path.data(), address.unix_path.size());
    std::memcpy(&result.storage, &local, sizeof local);
    result.size = sizeof local;
    return result;
  }
  std::string host = address.host;
  if (host == "0.0.0.0" || host == "localhost") host = "127.0.0.1";
  if (host == "::") host = "::1";
  sockaddr_in four = {};
  sockaddr_in6 six = {};
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(address.port);
    std::memcpy(&result.storage, &four, sizeof four);
    result.size = sizeof four;
  } else if (::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(address.port);
    std::memcpy(&result.storage, &six, sizeof six);
    result.size = sizeof six;
  } else {
    return fail(Failure::Kind::usage, fmt::format("{} is not an IP address", host));
  }
  return result;
}

}  // namespace

Result<void> check_health(const http::Address& address) {
  WS_LET(const SocketAddress target, socket_address(address));
  const auto silent = [&](std::string_view doing) {
    return fail(
        Failure::Kind::unreachable,
        fmt::format("{} does not answer: {}: {}", address.url("http", address.port), doing, std::strerror(errno)));
  };
  const Descriptor socket(::socket(target.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience = {.tv_sec = patience_seconds, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&target.storage), target.size) != 0)
    return silent("connect");
  const std::string request =
      fmt::format("GET /_mock/health HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n", address.port);
  if (!write_all(socket.get(), request)) return silent("send");
  constexpr std::string_view begin = "HTTP/1.1 ";
  std::array<char, begin.size() + 1> line = {};  // up to the first digit of the status code
  for (std::size_t had = 0; had < line.size();) {
    const ssize_t got = read_some(socket.get(), line.data() + had, line.size() - had);
    if (got <= 0) return silent("receive");
    had += static_cast<std::size_t>(got);
  }
  const std::string_view text(line.data(), line.size());
  if (text.starts_with(begin) && text.back() >= '1' && text.back() <= '4') return {};
  return fail(Failure::Kind::service,
              fmt::format("{} answers, but is not a mock server", address.url("http", address.port)));
}

}  // namespace ws::mock
