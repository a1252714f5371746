/// The names under which clients may call this server: the `Host` of a request is one of them, or it is not for us.
///
/// A page of another site can make its own name lead to this machine (DNS rebinding), but the browser then sends that
/// name. An IP address cannot be made to lead elsewhere, so a server that listens on every address answers to any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/result.hpp"
#include "server-mock/http/address.hpp"
#include "server-mock/http/message.hpp"

namespace ws::mock::http {

/// A `Host`, or the authority of an origin, in two parts.
struct HostParts {
  std::string name = {};  ///< in lower case, an IPv6 address without its brackets
  std::string_view port = {};
};

/// Empty where it is not `NAME[:PORT]`: no user, no trailing dot, no port that is not a number.
std::optional<HostParts> split_host(std::string_view host);

class OwnNames {
 public:
  /// The loopback's names alone.
  OwnNames() = default;
  /// What is listened on, the loopback's names, and those of `allowed`.
  static OwnNames of(const Address& listen, const std::vector<std::string>& allowed);
  /// Fails with `usage` where a name of `--allow-host` is none, or brings a port.
  static Result<void> check(const std::vector<std::string>& allowed);

  /// With any port: it may be mapped.
  bool contains(std::string_view host) const;
  /// Listens where other machines can call.
  bool is_open_to_others() const { return is_open_to_others_; }

 private:
  std::vector<std::string> names_ = {};
  bool takes_any_name_ = false;  // of a Unix socket: no browser can call it
  bool takes_any_address_ = false;
  bool is_open_to_others_ = false;
};

/// `Origin: http://NAME:PORT` is the very server that `Host: NAME:PORT` calls.
bool is_origin_of(std::string_view origin, std::string_view host);

/// The authority of a target in absolute form ("http://mock:8080/v1"); empty in the usual form.
std::string_view authority_of(std::string_view target);

}  // namespace ws::mock::http
