
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/http/message.hpp"

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

// The names under which clients may call this server. A request with another `Host` is refused.
//
// This protects against DNS rebinding: a page of another site can point its own name at this machine, but the browser
// then sends that name. An IP address cannot be rebound, so a server that listens on all addresses accepts any of
// them.

/// A `Host` header, or the authority of an origin, split into name and port.
struct HostParts {
  std::string name = {};  ///< in lower case, an IPv6 address without its brackets
  std::string_view port = {};
};

/// Empty unless the text is `NAME[:PORT]`: no user, no trailing dot, a numeric port.
std::optional<HostParts> split_host(std::string_view host);

class AllowedHosts {
 public:
  /// Only the names of the loopback interface.
  AllowedHosts() = default;
  /// The listen address, the loopback names and `allowed`.
  static AllowedHosts of(const Address& listen, const std::vector<std::string>& allowed);
  /// Fails with `usage` if a value of `--allow-host` is no host name or has a port.
  static Result<void> check(const std::vector<std::string>& allowed);

  /// The port is not compared: it may be mapped.
  bool contains(std::string_view host) const;
  /// The names of `--listen` and `--allow-host`, without a wildcard address.
  std::vector<std::string> names() const;
  /// Whether other machines can connect.
  bool is_open_to_others() const { return is_open_to_others_; }

 private:
  std::vector<std::string> names_ = {};
  bool takes_any_name_ = false;  // for a Unix socket: no browser can connect to it
  bool takes_any_address_ = false;
  bool is_open_to_others_ = false;
};

/// Whether `Origin: http://NAME:PORT` is the server that `Host: NAME:PORT` names.
bool is_origin_of(std::string_view origin, std::string_view host);

/// The authority of a request target in absolute form ("http://mock:8080/v1"); empty for the usual origin form.
std::string_view authority_of(std::string_view target);

}  // namespace ws::mock::http
