#include "sync-engine/binding/status_socket.hpp"

#include <array>
#include <chrono>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace ws::sync {
namespace {

using Steady = std::chrono::steady_clock;

constexpr const char* socket_name = "watch.sock";
constexpr int max_waiting = 16;
constexpr std::chrono::milliseconds longest_wait{20};
constexpr int socket_flags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

/// Empty: the path is too long for an address. It leads through a descriptor, so that the tree's own is never.
std::optional<sockaddr_un> address_of(const WsFolder& ws) {
  const std::string path = ws.through(socket_name).string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

bool is_same_user(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

/// Which file has the socket's name; 0: none.
ino_t file_with_name(const WsFolder& ws) {
  struct stat found {};
  return ::lstat(ws.through(socket_name).c_str(), &found) == 0 ? found.st_ino : 0;
}

}  // namespace

Result<StatusSocket> StatusSocket::listen(const WsFolder& ws) {
  const std::string name = (ws.path() / socket_name).string();
  const auto address = address_of(ws);
  Descriptor listening(::socket(AF_UNIX, socket_flags, 0));
  if (!address || !listening) return disk_failure("listen at", name);
  ws.remove(socket_name);
  if (::fchmod(listening.get(), S_IRUSR | S_IWUSR) != 0 ||
      ::bind(listening.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      ::listen(listening.get(), max_waiting) != 0)
    return disk_failure("listen at", name);
  return StatusSocket(ws, std::move(listening), file_with_name(ws));
}

StatusSocket::~StatusSocket() {
  if (listening_ && file_with_name(*ws_) == inode_) ws_->remove(socket_name);
}

bool StatusSocket::is_asked() {
  while (waiting_.size() < max_waiting) {
    Descriptor connection(::accept4(fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!connection) break;
    if (is_same_user(connection.get())) waiting_.push_back(std::move(connection));
  }
  return !waiting_.empty();
}

void StatusSocket::answer(std::string_view text) {
  if (text.size() > max_status_bytes) text = {};
  for (const Descriptor& connection : waiting_) {
    // All of it fits into the buffer. What does not arrive whole is not understood, and the other walks the tree.
    static_cast<void>(::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }
  waiting_.clear();
}

std::optional<std::string> ask_watch(const WsFolder& ws) {
  if (!ws.has(socket_name)) return std::nullopt;
  const auto address = address_of(ws);
  const Descriptor connection(::socket(AF_UNIX, socket_flags, 0));
  if (!address || !connection) return std::nullopt;
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      !is_same_user(connection.get()))
    return std::nullopt;
  std::string text;
  const auto end = Steady::now() + longest_wait;
  while (text.size() <= max_status_bytes) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Steady::now());
    pollfd readable{.fd = connection.get(), .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0) return std::nullopt;
    std::array<char, std::size_t{16} << 10U> buffer{};
    const ssize_t count = read_some(connection.get(), buffer.data(), buffer.size());
    if (count < 0) return std::nullopt;
    if (count == 0) return text.empty() ? std::nullopt : std::optional(std::move(text));
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return std::nullopt;
}

}  // namespace ws::sync
