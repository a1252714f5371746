/// An error as an HTTP response (`decisions.md`, "Errors"), in the style that the switch `error_style` selects.
#pragma once

#include <string_view>

#include "server-mock/http/message.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/assumptions.hpp"

namespace ws::mock {

/// A 422 has its published form in every style. Adds `WWW-Authenticate` to 401, and `Retry-After` to 429, 503 and other
/// errors that should be retried.
http::Response render(const ApiError& api_error, std::string_view request_id, const Assumptions& assumptions);

/// For a method that the path does not have: 405, or 204 for OPTIONS; `allow` lists its methods.
http::Response render_allow(std::string_view method,
                            std::string_view allow,
                            std::string_view request_id,
                            const Assumptions& assumptions);

}  // namespace ws::mock
