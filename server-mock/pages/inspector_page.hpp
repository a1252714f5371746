/// `GET /_mock`: the inspector, where a person watches and turns what a test would (`mock.md`, "Control").
///
/// A frame, a style sheet and a script, the same for everybody: all that they show they ask of the control calls, with
/// the control token where one is needed. Addresses are relative, so that each sandbox has its own.
#pragma once

#include <optional>

#include "server-mock/http/message.hpp"

namespace ws::mock::pages {

/// Empty: the request is for none of its files.
std::optional<http::Response> inspector(const http::Request& request);

}  // namespace ws::mock::pages
