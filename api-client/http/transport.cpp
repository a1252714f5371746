#include "api-client/http/transport.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "api-client/base/ascii.hpp"

namespace ws::http {
namespace {

/// Four decimal numbers up to 255. Anything else (127.evil.example, 127.999.0.1) is a name to be resolved.
bool is_ipv4(std::string_view host) {
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = host.find('.');
    if ((dot == std::string_view::npos) != (part == 3)) return false;
    const std::string_view digits = host.substr(0, dot);
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0 || value > 255) return false;
    host.remove_prefix(part == 3 ? host.size() : dot + 1);
  }
  return true;
}

}  // namespace

std::optional<std::string_view> find_header(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (equal_ignoring_case(key, name)) return value;
  }
  return std::nullopt;
}

std::string encoding_of(const Headers& headers) {
  const std::string_view encoding = find_header(headers, "Content-Encoding").value_or("");
  return equal_ignoring_case(encoding, "identity") ? std::string() : std::string(encoding);
}

bool is_header_name(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [marks](char c) {
    const bool is_word = (c >= '0' && c <= '9') || (to_lower(c) >= 'a' && to_lower(c) <= 'z');
    return is_word || marks.find(c) != std::string_view::npos;
  });
}

bool is_header_value(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

bool is_credential(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

Outcome Transport::send(Request request) {
  std::optional<Outcome> outcome;
  start(std::move(request), [&](Outcome ended) { outcome = std::move(ended); });
  while (!outcome) run(std::chrono::milliseconds{1000});
  return std::move(*outcome);
}

std::string origin_of(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return {};
  const std::string_view scheme = url.substr(0, scheme_end);
  std::string_view port;
  if (equal_ignoring_case(scheme, "https")) {
    port = "443";
  } else if (equal_ignoring_case(scheme, "http")) {
    port = "80";
  } else {
    return {};
  }
  std::string_view rest = url.substr(scheme_end + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  // Browsers end the host at a backslash, curl does not; some clients decode %-codes in a host.
  if (authority.empty() || authority.find_first_of("@\\%") != std::string_view::npos) return {};
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const std::string_view host = authority.substr(0, colon);
  if (colon != std::string_view::npos && colon + 1 < authority.size()) port = authority.substr(colon + 1);
  const bool digits = std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (host.empty() || !digits || port.size() > 5) return {};
  std::string origin;
  for (const char c : scheme) origin += to_lower(c);
  origin += "://";
  for (const char c : host) {
    if (static_cast<unsigned char>(c) <= ' ') return {};
    origin += to_lower(c);
  }
  origin += ':';
  origin += port;
  return origin;
}

bool is_loopback(std::string_view url) {
  const std::string origin = origin_of(url);
  if (origin.empty()) return false;
  const std::size_t start = origin.find("://") + 3;
  const std::string_view host = std::string_view(origin).substr(start, origin.rfind(':') - start);
  if (host == "localhost" || host == "[::1]") return true;
  return host.substr(0, 4) == "127." && is_ipv4(host);
}

bool may_take_key(std::string_view url, std::string_view allowed) {
  const std::string origin = origin_of(url);
  constexpr std::string_view plain = "http://";
  if (origin.empty() || !origin.starts_with(plain) || is_loopback(url)) return !origin.empty();
  const std::string_view host_and_port = std::string_view(origin).substr(plain.size());
  const std::string_view host = host_and_port.substr(0, host_and_port.rfind(':'));
  while (!allowed.empty()) {
    const std::string_view entry = allowed.substr(0, allowed.find(','));
    if (entry == host || entry == host_and_port) return true;
    allowed.remove_prefix(std::min(entry.size() + 1, allowed.size()));
  }
  return false;
}

bool may_lead_to(std::string_view url, std::string_view base_url) {
  const std::string origin = origin_of(url);
  if (origin.empty()) return false;
  if (origin.starts_with("https:") || origin == origin_of(base_url)) return true;
  return is_loopback(url) && is_loopback(base_url);
}

}  // namespace ws::http
