/// Rejects requests that a browser sends on behalf of a page of another site (CSRF, DNS rebinding).
///
/// `/_mock`, `/device` and the page at `/` accept only requests with an allowed Host, from their own pages, with a JSON
/// body (the login form: a form body). The API needs a key, which other pages do not have. There a foreign Host is
/// rejected too, unless the server is reachable from other machines (the service name of a container need not be known
/// here), keys are checked, and no browser sent the request. No response allows other origins to read it (CORS).
#pragma once

#include <optional>
#include <string_view>

#include "server-mock/access/access.hpp"
#include "server-mock/http/address.hpp"

namespace ws::mock {

class WebGuard {
 public:
  /// Pages of the origin of `public_url`, if there is one, are the server's own: a proxy may change `Host`.
  WebGuard(http::AllowedHosts names, AuthMode auth, const std::string& public_url = {})
      : names_(std::move(names)), auth_(auth), public_host_(http::authority_of(public_url)) {}

  /// `path` is the path inside the sandbox. Empty: the request is allowed.
  std::optional<ApiError> rejection(const http::Request& request, std::string_view path) const;
  /// The request's Host if URLs in responses may use it; otherwise empty. So each of two clients that reach the mock
  /// under different names gets its own. A Host without a port is used only if ports may be mapped: on a loopback
  /// address it was removed by a relay.
  std::string_view request_host(const http::Request& request) const;

 private:
  http::AllowedHosts names_;
  AuthMode auth_;
  std::string public_host_;
};

}  // namespace ws::mock
