#include "server-mock/compare/client_socket.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <sys/socket.h>
#include <unistd.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/descriptor.hpp"

namespace ws::mock::compare {
namespace {

constexpr std::size_t max_head_bytes = std::size_t{64} << 10U;

std::optional<std::uint64_t> number_in(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

}  // namespace

ClientSocket::~ClientSocket() { ::close(socket_); }

bool ClientSocket::fill() {
  std::array<char, 65536> buffer;
  const ssize_t got = retry_eintr([&] { return ::recv(socket_, buffer.data(), buffer.size(), 0); });
  if (got > 0) bytes_.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

std::optional<std::string> ClientSocket::read_line() {
  std::size_t end = 0;
  while ((end = bytes_.find("\r\n")) == std::string::npos) {
    if (bytes_.size() > max_head_bytes || !fill()) return std::nullopt;
  }
  std::string line = bytes_.substr(0, end);
  bytes_.erase(0, end + 2);
  return line;
}

std::optional<RequestHead> ClientSocket::read_head() {
  const auto first = read_line();
  if (!first) return std::nullopt;
  const std::size_t space = first->find(' ');
  const std::size_t last = first->rfind(' ');
  if (space == std::string::npos || last == space || !first->ends_with("HTTP/1.1")) return std::nullopt;
  RequestHead head = {.method = first->substr(0, space), .target = first->substr(space + 1, last - space - 1)};
  if (!ws::http::is_header_name(head.method) || !head.target.starts_with('/')) return std::nullopt;
  std::size_t size = 0;
  bool is_chunked = false;
  while (true) {
    const auto line = read_line();
    if (!line || (size += line->size()) > max_head_bytes) return std::nullopt;
    if (line->empty()) break;
    const std::size_t colon = line->find(':');
    if (colon == std::string::npos) return std::nullopt;
    std::string name = line->substr(0, colon);
    std::string value(trimmed(std::string_view(*line).substr(colon + 1)));
    if (!ws::http::is_header_name(name) || !ws::http::is_header_value(value)) return std::nullopt;
    if (equal_ignoring_case(name, "Content-Length")) {
      const auto length = number_in(value, 10);
      if (!length || (head.length && head.length != length)) return std::nullopt;
      head.length = length;
    }
    is_chunked = is_chunked || equal_ignoring_case(name, "Transfer-Encoding");
    head.closes = head.closes || (equal_ignoring_case(name, "Connection") && equal_ignoring_case(value, "close"));
    head.headers.emplace_back(std::move(name), std::move(value));
  }
  // Both can be used for request smuggling past a proxy (RFC 9112, 6.3).
  if (is_chunked && head.length) return std::nullopt;
  if (!is_chunked && !head.length) head.length = 0;
  return head;
}

std::size_t ClientSocket::read(char* buffer, std::size_t capacity) {
  if (bytes_.empty() && !fill()) return 0;
  const std::size_t count = std::min(capacity, bytes_.size());
  bytes_.copy(buffer, count);
  bytes_.erase(0, count);
  return count;
}

std::optional<std::string> ClientSocket::read_chunks(std::size_t limit) {
  std::string body;
  while (true) {
    const auto line = read_line();
    const auto size = line ? number_in(trimmed(std::string_view(*line).substr(0, line->find(';'))), 16) : std::nullopt;
    if (!size || *size > limit - body.size()) return std::nullopt;
    while (bytes_.size() < *size + 2) {
      if (!fill()) return std::nullopt;
    }
    body.append(bytes_, 0, *size);
    const bool is_whole = bytes_.compare(*size, 2, "\r\n") == 0;
    bytes_.erase(0, *size + 2);
    if (!is_whole) return std::nullopt;
    if (*size == 0) return body;
  }
}

bool ClientSocket::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = retry_eintr([&] { return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); });
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace ws::mock::compare
