#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api-client/base/result.hpp"

namespace ws::mock::http {

/// Where a server listens: "127.0.0.1:0", "[::1]:8080". Port 0: any free one.
struct Address {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string unix_path = {};  ///< not empty: a Unix socket in place of both

  static Result<Address> parse(std::string_view text);  ///< Fails with `invalid`.
  bool is_loopback() const;
  bool is_wildcard() const { return unix_path.empty() && (host == "0.0.0.0" || host == "::"); }
  /// "http://127.0.0.1:4711"; a wildcard address is called by the loopback's name, a Unix socket "http://localhost".
  std::string url(std::string_view scheme, std::uint16_t bound_port) const;
};

}  // namespace ws::mock::http
