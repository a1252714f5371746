/// Assumption switches that change a response after its service made it, and the `X-Mock-Assumed` header.
#pragma once

#include <string>

#include "api-client/contract/schema.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/assumptions.hpp"

namespace ws::mock {

/// Whether `assumed_fields=null` and `missing` leave the field in place, so that a response remains usable: published
/// fields, ids (also those that are no UUID: `case_id`, `suite_id`), text and revision of a document, the lease token,
/// and whatever contains them.
bool is_kept(const contract::Field& field);

/// Applies `list_extra` and `assumed_fields` to a response of this operation. `assumed_fields` leaves local Markdown
/// sync alone: the API document shows none of its fields, so nothing would remain.
void apply_assumptions(const contract::Operation& operation, const Assumptions& assumptions, Answer& answer);

/// "device_pending=error_400": the switches that affected this response. A service names those that it used in a header
/// of its own, so that a stored response keeps them. Empty: none.
std::string assumptions_behind(const contract::Operation& operation,
                               const Assumptions& assumptions,
                               int status,
                               std::string_view code);

}  // namespace ws::mock
