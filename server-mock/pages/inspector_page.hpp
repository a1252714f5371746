/// `GET /_mock`: the inspector, a page on which a person sees and controls what a test would (`mock.md`, "Control").
///
/// Static files: a page, a style sheet and a script, which calls the control API with the control token if one is
/// needed. URLs are relative, so that each sandbox has its own inspector.
#pragma once

#include <optional>

#include "server-mock/http/message.hpp"

namespace ws::mock::pages {

/// Empty if the request is not for one of its files.
std::optional<http::Response> inspector(const http::Request& request);

}  // namespace ws::mock::pages
