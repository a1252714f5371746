#include "server-mock/http/address.hpp"

#include <charconv>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

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

}  // namespace ws::mock::http
