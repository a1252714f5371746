/// The state of a sandbox as one JSON value, as `PUT /_mock/state` takes it, and whether that is complete.
#pragma once

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock::trace {

/// `{assumptions, clock, tables}`
Result<Json> state_body(Sandbox& sandbox);

/// Whether rows, clock and switches are the whole state: no pending request, no counting fault rule or rate limit, no
/// named snapshot, no file outside the database.
bool is_rows_only(Sandbox& sandbox);

}  // namespace ws::mock::trace
