/// `GET /` in a browser: what this server is, how to log in, and where its other pages are.
///
/// Only who asks for HTML gets it; for everybody else nothing is at this path. It holds no data.
#pragma once

#include <string_view>

#include "server-mock/http/message.hpp"

namespace ws::mock::pages {

/// Whether the page answers the request. `path` is the path inside the sandbox.
bool is_root(const http::Request& request, std::string_view path);

enum class Inspector { shown, off };  ///< `off`: the server has no control calls

/// `base_url`: the address by which the client calls, without a slash at its end.
http::Response root(std::string_view base_url, Inspector inspector);

}  // namespace ws::mock::pages
