#include "server-mock/http/address.hpp"

#include <algorithm>
#include <charconv>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "api-client/base/ascii.hpp"

namespace ws::mock::http {

Result<Address> Address::parse(std::string_view text) {
  const auto malformed = [&] {
    return fail(Failure::Kind::invalid, fmt::format("\"{}\" is not ADDRESS:PORT", text), "say 127.0.0.1:8080");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return malformed();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  Address address = {.host = std::string(host)};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) return malformed();
  boost::system::error_code unknown;
  boost::asio::ip::make_address(address.host, unknown);
  if (unknown) return malformed();
  return address;
}

std::string Address::url(std::string_view scheme, std::uint16_t bound_port) const {
  if (!unix_path.empty()) return fmt::format("{}://localhost", scheme);
  std::string name = host;
  if (name == "0.0.0.0") name = "127.0.0.1";
  if (name == "::") name = "::1";
  if (name.find(':') != std::string::npos) name = "[" + name + "]";
  return fmt::format("{}://{}:{}", scheme, name, bound_port);
}

bool Address::is_loopback() const {
  if (!unix_path.empty()) return true;
  boost::system::error_code unknown;
  const auto address = boost::asio::ip::make_address(host, unknown);
  return !unknown && address.is_loopback();
}

namespace {

constexpr std::size_t longest_port = 5;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<boost::asio::ip::address> address_of(const std::string& name) {
  boost::system::error_code unknown;
  auto address = boost::asio::ip::make_address(name, unknown);
  return unknown ? std::nullopt : std::optional(std::move(address));
}

bool is_name(std::string_view name) {
  const auto fits = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '_'; };
  return !name.empty() && name.back() != '.' && std::ranges::all_of(name, fits);
}

/// The port, or the default port of the scheme.
std::string_view port_or(std::string_view port, std::string_view scheme) {
  if (!port.empty()) return port;
  return scheme == "https" ? "443" : "80";
}

}  // namespace

std::optional<HostParts> split_host(std::string_view host) {
  HostParts parts;
  std::string_view rest;
  const bool in_brackets = host.starts_with('[');
  if (in_brackets) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    parts.name = host.substr(1, end - 1);
    rest = host.substr(end + 1);
  } else {
    const std::size_t colon = std::min(host.find(':'), host.size());
    parts.name = host.substr(0, colon);
    rest = host.substr(colon);
  }
  parts.name = to_lower(parts.name);
  const auto address = in_brackets ? address_of(parts.name) : std::nullopt;
  if (in_brackets ? !address || !address->is_v6() : !is_name(parts.name)) return std::nullopt;
  if (rest.empty()) return parts;
  parts.port = rest.substr(1);
  const bool is_port = rest.front() == ':' && !parts.port.empty() && parts.port.size() <= longest_port &&
                       std::ranges::all_of(parts.port, is_digit);
  return is_port ? std::optional(std::move(parts)) : std::nullopt;
}

AllowedHosts AllowedHosts::of(const Address& listen, const std::vector<std::string>& allowed) {
  AllowedHosts own;
  own.takes_any_name_ = !listen.unix_path.empty();
  own.takes_any_address_ = listen.is_wildcard();
  own.is_open_to_others_ = !listen.is_loopback();
  own.names_.push_back(listen.host);
  for (const std::string& name : allowed) {
    if (const auto parts = split_host(name)) own.names_.push_back(parts->name);
  }
  return own;
}

Result<void> AllowedHosts::check(const std::vector<std::string>& allowed) {
  for (const std::string& name : allowed) {
    const auto parts = split_host(name);
    if (parts && parts->port.empty()) continue;
    return fail(Failure::Kind::usage,
                fmt::format("--allow-host \"{}\" is not the name of a host", name),
                "give the name alone, without scheme and port: --allow-host mock");
  }
  return {};
}

std::vector<std::string> AllowedHosts::names() const {
  std::vector<std::string> names;
  for (const std::string& name : names_) {
    const auto address = address_of(name);
    if (!address || !address->is_unspecified()) names.push_back(name);
  }
  return names;
}

bool AllowedHosts::contains(std::string_view host) const {
  const auto parts = split_host(host);
  if (!parts) return false;
  if (takes_any_name_ || parts->name == "localhost" || std::ranges::find(names_, parts->name) != names_.end()) {
    return true;
  }
  const auto address = address_of(parts->name);
  return address && (takes_any_address_ || address->is_loopback());
}

bool is_origin_of(std::string_view origin, std::string_view host) {
  const std::size_t colon = origin.find("://");
  if (colon == std::string_view::npos) return false;  // such as "null"
  const std::string_view scheme = origin.substr(0, colon);
  if (scheme != "http" && scheme != "https") return false;
  const auto theirs = split_host(origin.substr(colon + 3));
  const auto ours = split_host(host);
  return theirs && ours && theirs->name == ours->name && port_or(theirs->port, scheme) == port_or(ours->port, scheme);
}

std::string_view authority_of(std::string_view target) {
  const std::size_t colon = target.starts_with('/') ? std::string_view::npos : target.find("://");
  if (colon == std::string_view::npos) return {};
  const std::string_view rest = target.substr(colon + 3);
  return rest.substr(0, rest.find_first_of("/?#"));
}

}  // namespace ws::mock::http
