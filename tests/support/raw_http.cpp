#include "tests/support/raw_http.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api-client/base/descriptor.hpp"

namespace ws::test {

std::string RawAnswer::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

std::optional<RawAnswer> take_answer(std::string& bytes, AnswerTo request) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return std::nullopt;
  RawAnswer answer;
  answer.status = std::stoi(bytes.substr(bytes.find(' ') + 1, 3));
  std::size_t line = bytes.find("\r\n");
  while (line < end) {
    const std::size_t next = bytes.find("\r\n", line + 2);
    const std::string field = bytes.substr(line + 2, next - line - 2);
    const std::size_t colon = field.find(": ");
    std::string name = field.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
    answer.headers[name] = field.substr(colon + 2);
    line = next;
  }
  const std::string length = answer.header("content-length");
  const std::size_t size = request == AnswerTo::head || length.empty() ? 0 : std::stoul(length);
  if (bytes.size() < end + 4 + size) return std::nullopt;
  answer.body = bytes.substr(end + 4, size);
  bytes.erase(0, end + 4 + size);
  return answer;
}

RawConnection::RawConnection(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_);
    throw std::runtime_error("nobody listens on port " + std::to_string(port));
  }
}

RawConnection::~RawConnection() { ::close(socket_); }

void RawConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = retry_eintr([&] { return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    if (sent <= 0) return;  // the peer has closed the connection: its response says why
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool RawConnection::pump(std::chrono::milliseconds at_most) {
  pollfd waiting = {.fd = socket_, .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, static_cast<int>(at_most.count())) <= 0) return false;
  char piece[65536];
  const ssize_t count = ::recv(socket_, piece, sizeof piece, 0);
  if (count <= 0) return false;
  bytes_.append(piece, static_cast<std::size_t>(count));
  return true;
}

std::optional<RawAnswer> RawConnection::read(AnswerTo request, std::chrono::milliseconds at_most) {
  while (true) {
    if (auto answer = take_answer(bytes_, request)) return answer;
    if (!pump(at_most)) return std::nullopt;
  }
}

RawConnection::Rest RawConnection::read_rest(std::chrono::milliseconds at_most) {
  while (true) {
    pollfd waiting = {.fd = socket_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(at_most.count())) <= 0) return {std::exchange(bytes_, {}), End::none};
    char piece[65536];
    const ssize_t count = ::recv(socket_, piece, sizeof piece, 0);
    if (count > 0) {
      bytes_.append(piece, static_cast<std::size_t>(count));
    } else {
      return {std::exchange(bytes_, {}), count == 0 ? End::closed : End::reset};
    }
  }
}

bool RawConnection::ends(std::chrono::milliseconds at_most) {
  pollfd waiting = {.fd = socket_, .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, static_cast<int>(at_most.count())) <= 0) return false;
  char byte = 0;
  return ::recv(socket_, &byte, 1, 0) <= 0;
}

std::string render(const RawRequest& request) {
  std::string text = request.method + " " + request.target + " HTTP/1.1\r\nHost: localhost\r\n";
  if (!request.token.empty()) text += "Authorization: Bearer " + request.token + "\r\n";
  bool has_type = false;
  for (const std::string& header : request.headers) {
    has_type = has_type || header.starts_with("Content-Type:");
    text += header + "\r\n";
  }
  if (!request.json.empty()) {
    if (!has_type) text += "Content-Type: application/json\r\n";
    text += "Content-Length: " + std::to_string(request.json.size()) + "\r\n";
  }
  return text + "\r\n" + request.json;
}

RawAnswer ask(std::uint16_t port, const RawRequest& request) {
  RawConnection connection(port);
  connection.send(render(request));
  auto answer = connection.read(request.method == "HEAD" ? AnswerTo::head : AnswerTo::get);
  if (!answer) throw std::runtime_error("no answer to " + request.method + " " + request.target);
  return std::move(*answer);
}

}  // namespace ws::test
