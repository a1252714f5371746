/// No web page is a client: what a browser sends for a page of another site is refused before anybody looks at it.
///
/// `/_mock` and `/device` take requests that call the server by one of its own names, for no page but its own, with
/// JSON (the form: its own type) in the body. The rest needs a key, which no other page has: there a foreign name is
/// refused too, unless others may call this server (a container's service name need not be known here), keys are
/// checked, and no page is behind it. No answer ever allows another origin to read it (CORS).
#pragma once

#include <optional>
#include <string_view>

#include "server-mock/access/access.hpp"
#include "server-mock/http/own_names.hpp"

namespace ws::mock {

class WebGuard {
 public:
  WebGuard(http::OwnNames names, AuthMode auth) : names_(std::move(names)), auth_(auth) {}

  /// `path` is that within the request's world. Empty: it may pass.
  std::optional<Refusal> objection(const http::Request& request, std::string_view path) const;
  /// What the client called the server, where that may stand in an address; empty: it may not. Without a port it is
  /// believed only where ports may be mapped: on the loopback it is a relay that leaves it out.
  std::string_view called_as(const http::Request& request) const;

 private:
  http::OwnNames names_;
  AuthMode auth_;
};

}  // namespace ws::mock
