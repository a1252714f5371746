#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::mock::http {

/// The address that a server listens on: "127.0.0.1:0", "[::1]:8080". Port 0 means any free port.
struct Address {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string unix_path = {};  ///< a Unix socket instead of host and port, unless empty

  static Result<Address> parse(std::string_view text);  ///< Fails with `invalid`.
  bool is_loopback() const;
  bool is_wildcard() const { return unix_path.empty() && (host == "0.0.0.0" || host == "::"); }
  /// "http://127.0.0.1:4711". A wildcard address becomes the loopback address, a Unix socket "http://localhost".
  std::string url(std::string_view scheme, std::uint16_t bound_port) const;
};

}  // namespace ws::mock::http
