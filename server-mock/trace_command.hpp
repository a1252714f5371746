/// The commands for traces: `exec --trace`, `open FILE` and `serve --trace FILE --at N`: flags, execution, exit codes.
#pragma once

#include "api-client/base/result.hpp"
#include "server-mock/application/serve.hpp"
#include "server-mock/flags.hpp"

namespace ws::mock {

/// Runs the command of the settings and records its requests. Fails as `serve`, with `usage` if a flag cannot be
/// combined with a trace, with `disk` if the file cannot be written.
Result<int> exec_traced(const Flags& flags, ServeSettings settings);

/// Serves the page with the slider. Fails with `invalid` if the file is not a trace.
Result<int> open_trace(Flags flags);

/// Serves the world as it was after request `flags.at` (default: the last one). Fails with `invalid` or `usage`.
Result<int> serve_trace(Flags flags);

}  // namespace ws::mock
