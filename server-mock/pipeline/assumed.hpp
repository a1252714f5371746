/// The switches that reshape an answer after its service made it, and what `X-Mock-Assumed` says of any of them.
#pragma once

#include <string>

#include "api-client/contract/schema.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/assumptions.hpp"

namespace ws::mock {

/// `list_extra` and `assumed_fields` on an answer of this operation. Local Markdown sync is left
/// alone by `assumed_fields`: the document shows none of its fields, so nothing of it would remain.
void apply_switches(const contract::Operation& operation, const Assumptions& assumptions, Answer& answer);

/// "device_pending=error_400": the switches that this answer rests on, with their values. A service names those that
/// it looked at itself in a header of its own, so that a kept answer goes on saying what it rested on. Empty: none.
std::string assumed_by(const contract::Operation& operation,
                       const Assumptions& assumptions,
                       int status,
                       std::string_view code);

}  // namespace ws::mock
