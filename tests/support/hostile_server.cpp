#include "tests/support/hostile_server.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <list>
#include <mutex>
#include <thread>
#include <tuple>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api-client/base/ascii.hpp"

namespace ws::test {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Returns a bound socket and its port.
std::pair<int, std::uint16_t> bind_loopback() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  // The socket calls want the generic address type.
  auto* generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT
  if (socket < 0 || ::bind(socket, generic, size) != 0 || ::getsockname(socket, generic, &size) != 0) std::abort();
  return {socket, ntohs(address.sin_port)};
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// Reads from a socket and keeps surplus bytes for the next request.
class Reader {
 public:
  explicit Reader(int socket) : socket_(socket) {}

  std::optional<std::string> until(std::string_view mark) {
    std::size_t found = std::string::npos;
    while ((found = buffer_.find(mark)) == std::string::npos) {
      if (!more()) return std::nullopt;
    }
    return take(found + mark.size());
  }
  std::optional<std::string> exactly(std::size_t count) {
    while (buffer_.size() < count) {
      if (!more()) return std::nullopt;
    }
    return take(count);
  }

 private:
  bool more() {
    char piece[16384];
    const ssize_t got = ::recv(socket_, piece, sizeof piece, 0);
    if (got <= 0) return false;
    buffer_.append(piece, static_cast<std::size_t>(got));
    return true;
  }
  std::string take(std::size_t count) {
    std::string taken = buffer_.substr(0, count);
    buffer_.erase(0, count);
    return taken;
  }

  int socket_;
  std::string buffer_;
};

std::optional<std::string> read_chunks(Reader& reader) {
  std::string body;
  while (true) {
    const auto line = reader.until("\r\n");
    if (!line) return std::nullopt;
    const std::size_t size = std::strtoul(line->c_str(), nullptr, 16);
    const auto chunk = reader.exactly(size + 2);
    if (!chunk) return std::nullopt;
    if (size == 0) return body;
    body += chunk->substr(0, size);
  }
}

std::optional<Seen> read_request(Reader& reader) {
  Seen seen;
  auto head = reader.until("\r\n\r\n");
  if (!head) return std::nullopt;
  seen.head = std::move(*head);
  const std::size_t first = seen.head.find(' ');
  const std::size_t second = seen.head.find(' ', first + 1);
  if (first == std::string::npos || second == std::string::npos) return std::nullopt;
  seen.method = seen.head.substr(0, first);
  seen.target = seen.head.substr(first + 1, second - first - 1);
  std::optional<std::string> body = std::string();
  if (const auto length = seen.header("content-length")) {
    body = reader.exactly(std::strtoul(length->c_str(), nullptr, 10));
  } else if (seen.header("transfer-encoding")) {
    body = read_chunks(reader);
  }
  if (!body) return std::nullopt;
  seen.body = std::move(*body);
  return seen;
}

}  // namespace

std::optional<std::string> Seen::header(std::string_view name) const {
  std::size_t start = head.find("\r\n");
  while (start != std::string::npos && start + 2 < head.size()) {
    start += 2;
    const std::size_t end = head.find("\r\n", start);
    const std::string_view line = std::string_view(head).substr(start, end - start);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && equal_ignoring_case(line.substr(0, colon), name)) {
      std::string_view value = line.substr(colon + 1);
      while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
      return std::string(value);
    }
    start = end;
  }
  return std::nullopt;
}

std::string response(int status, std::string_view body, const Headers& headers) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " Status\r\n";
  bool typed = false;
  for (const auto& [name, value] : headers) {
    text += name + ": " + value + "\r\n";
    typed = typed || equal_ignoring_case(name, "content-type");
  }
  if (!typed) text += "Content-Type: application/json\r\n";
  if (status != 204 && status != 304) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  text += "\r\n";
  text += body;
  return text;
}

Script answer(int status, std::string_view body, const Headers& headers) {
  return {SendBytes{response(status, body, headers)}};
}

struct HostileServer::Impl {
  Handler handler;
  std::function<std::optional<Script>(int)> on_connect;
  int listener = -1;
  std::uint16_t port = 0;
  std::thread acceptor;

  mutable std::mutex mutex;
  std::mutex handling;
  std::condition_variable stopping;
  bool stopped = false;
  int connection_count = 0;
  std::vector<Seen> seen;
  std::vector<int> open;
  std::list<std::thread> threads;

  void accept_all() {
    while (true) {
      const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      const std::lock_guard lock(mutex);
      if (socket < 0 || stopped) {
        if (socket >= 0) ::close(socket);
        return;
      }
      const int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      open.push_back(socket);
      const int number = ++connection_count;
      threads.emplace_back([this, socket, number] {
        serve(socket, number);
        const std::lock_guard closing(mutex);
        open.erase(std::find(open.begin(), open.end(), socket));
        ::close(socket);
      });
    }
  }

  void serve(int socket, int connection) {
    if (on_connect) {
      if (const auto script = on_connect(connection)) {
        perform(socket, *script);
        return;
      }
    }
    Reader reader(socket);
    for (int count = 1;; ++count) {
      auto request = read_request(reader);
      if (!request) return;
      request->connection = connection;
      request->on_connection = count;
      {
        const std::lock_guard lock(mutex);
        request->number = static_cast<int>(seen.size()) + 1;
        seen.push_back(*request);
      }
      Script script;
      {
        const std::lock_guard lock(handling);
        script = handler(*request);
      }
      if (!perform(socket, script)) return;
    }
  }

  /// Returns whether the connection stays open.
  bool perform(int socket, const Script& script) {
    for (const Step& step : script) {
      if (const auto* bytes = std::get_if<SendBytes>(&step)) {
        if (!send_all(socket, bytes->bytes)) return false;
      } else if (const auto* dribble = std::get_if<Dribble>(&step)) {
        std::string_view rest = dribble->bytes;
        while (!rest.empty()) {
          if (!send_all(socket, rest.substr(0, dribble->piece)) || !wait(dribble->gap)) return false;
          rest.remove_prefix(std::min(rest.size(), dribble->piece));
        }
      } else if (const auto* forever = std::get_if<SendForever>(&step)) {
        while (send_all(socket, forever->bytes)) {
          if (!wait(forever->gap)) return false;
        }
        return false;
      } else if (const auto* pause = std::get_if<Pause>(&step)) {
        if (!wait(pause->time)) return false;
      } else if (std::holds_alternative<Hold>(step)) {
        wait(std::chrono::hours{1});
        return false;
      } else if (std::holds_alternative<ResetConnection>(step)) {
        const linger now{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return false;
      } else {
        ::shutdown(socket, SHUT_RDWR);
        return false;
      }
    }
    return true;
  }

  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex);
    return !stopping.wait_for(lock, time, [this] { return stopped; });
  }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      if (stopped) return;
      stopped = true;
      for (const int socket : open) ::shutdown(socket, SHUT_RDWR);
    }
    stopping.notify_all();
    ::shutdown(listener, SHUT_RDWR);
    acceptor.join();
    for (std::thread& thread : threads) thread.join();
    ::close(listener);
  }
};

HostileServer::HostileServer(Handler handler) : HostileServer(std::move(handler), nullptr) {}

HostileServer::HostileServer(Handler handler, std::function<std::optional<Script>(int connection)> on_connect)
    : impl_(std::make_unique<Impl>()) {
  impl_->handler = std::move(handler);
  impl_->on_connect = std::move(on_connect);
  std::tie(impl_->listener, impl_->port) = bind_loopback();
  if (::listen(impl_->listener, 128) != 0) std::abort();
  impl_->acceptor = std::thread([this] { impl_->accept_all(); });
}

HostileServer::~HostileServer() { impl_->stop(); }

std::uint16_t HostileServer::port() const { return impl_->port; }
std::string HostileServer::origin() const { return "http://127.0.0.1:" + std::to_string(impl_->port); }
std::string HostileServer::url(std::string_view path) const { return origin() + std::string(path); }
std::vector<Seen> HostileServer::requests() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->seen;
}
int HostileServer::connections() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->connection_count;
}
void HostileServer::stop() { impl_->stop(); }

std::uint16_t closed_port() {
  const auto [socket, port] = bind_loopback();
  ::close(socket);
  return port;
}

}  // namespace ws::test
