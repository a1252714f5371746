/// The state of a sandbox as one value, as `PUT /_mock/state` takes it, and whether that is all of it.
#pragma once

#include "api-client/base/json.hpp"
#include "api-client/base/result.hpp"
#include "server-mock/sandbox/sandbox.hpp"

namespace ws::mock::trace {

/// `{assumptions, clock, tables}`
Result<Json> state_body(Sandbox& sandbox);

/// Whether the rows, the clock and the switches are the whole state: no request waits, no fault rule or rate limit
/// counts, no named snapshot is kept, no file lies beside the database.
bool is_in_rows(Sandbox& sandbox);

}  // namespace ws::mock::trace
