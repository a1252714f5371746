/// One operation on several things.
#pragma once

#include <string>
#include <vector>

#include "api-client/client.hpp"
#include "cli/session.hpp"

namespace ws::cli {

/// One call after another. A single one is printed as it came; several as `{"data": [{ok, id, result | error}]}`.
/// What one refuses does not stop the others (then it ends with `partial`); what concerns them all - the key, the
/// network, a signal - does.
Result<ExitCode> run_batch(Session& session,
                           Client& client,
                           const contract::Operation& operation,
                           const std::vector<std::string>& ids,
                           std::vector<Call> calls);

}  // namespace ws::cli
