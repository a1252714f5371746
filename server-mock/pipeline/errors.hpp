/// A refusal as it goes over the wire (`decisions.md`, "Errors"), in the style that the switch `error_style` names.
#pragma once

#include <string>
#include <string_view>

#include "server-mock/http/message.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/assumptions.hpp"

namespace ws::mock {

/// A 422 has its published form under every style. 401 carries `WWW-Authenticate`, 429, 503 and what else is worth
/// trying again `Retry-After`.
http::Response render(const Refusal& refusal, std::string_view request_id, const Assumptions& assumptions);

/// To a method that a path does not have: 405, or to OPTIONS 204; `allow` names those that it has.
http::Response render_allow(std::string_view method,
                            std::string_view allow,
                            std::string_view request_id,
                            const Assumptions& assumptions);

}  // namespace ws::mock
