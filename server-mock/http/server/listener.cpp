#include "server-mock/http/server/listener.hpp"

#include <arpa/inet.h>
#include <boost/asio/local/stream_protocol.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace ws::mock::http {
namespace {

using Unix = asio::local::stream_protocol;

constexpr int backlog = 4096;

/// Each client needs a file descriptor: 2,000 pending claims and more must fit.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Removes the file of a Unix socket if no process listens on it any more.
void remove_stale(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  asio::io_context context(1);
  ErrorCode error;
  Unix::socket probe(context);
  probe.connect(Unix::endpoint(path), error);
  if (error == asio::error::connection_refused) ::unlink(path.c_str());
}

void open_unix(Acceptor& acceptor, const std::string& path, ErrorCode& error) {
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    error = asio::error::name_too_long;
    return;
  }
  remove_stale(path);
  const Unix::endpoint endpoint(path);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.bind(endpoint, error);
  // Before any client can connect.
  if (!error) ::chmod(path.c_str(), S_IRUSR | S_IWUSR);
}

void open_tcp(Acceptor& acceptor, const Address& address, ErrorCode& error) {
  const auto host = asio::ip::make_address(address.host, error);
  if (error) return;
  const tcp::endpoint endpoint(host, address.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
}

}  // namespace

Result<void> open_listener(Acceptor& acceptor, const Address& address) {
  raise_file_limit();
  ErrorCode error;
  if (address.unix_path.empty()) {
    open_tcp(acceptor, address, error);
  } else {
    open_unix(acceptor, address.unix_path, error);
  }
  if (!error) acceptor.listen(backlog, error);
  if (!error) return {};
  const std::string where =
      address.unix_path.empty() ? fmt::format("{}:{}", address.host, address.port) : address.unix_path;
  return fail(Failure::Kind::unreachable, fmt::format("cannot listen on {}: {}", where, error.message()));
}

void close_listener(Acceptor& acceptor, const Address& address) {
  ErrorCode ignored;
  const bool is_open = acceptor.is_open();
  acceptor.close(ignored);
  if (is_open && !address.unix_path.empty()) ::unlink(address.unix_path.c_str());
}

std::uint16_t port_of(const Acceptor& acceptor) {
  ErrorCode error;
  const auto endpoint = acceptor.local_endpoint(error);
  if (error) return 0;
  const sockaddr* address = endpoint.data();
  if (address->sa_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(address)->sin_port);
  if (address->sa_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(address)->sin6_port);
  return 0;
}

}  // namespace ws::mock::http
