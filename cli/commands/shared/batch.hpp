/// One operation on several things.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api-client/client/client.hpp"
#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// One call for each id, which fills the operation's only argument; checked before anything is sent.
Result<std::vector<Call>> batch_calls(Session& session,
                                      const contract::Operation& operation,
                                      const std::vector<std::string>& ids);

/// What became of one of several.
struct BatchItem {
  std::string id = {};
  Result<Reply> reply;
};

/// Prints `{"data": [{ok, id, result | error}]}`, as a table in the columns of `shape` (`output/format.cpp`). With
/// `--fields`, `--template` or `--jq` only the results, each shaped by itself. Ends with `partial` where one failed.
ExitCode print_batch(Session& session,
                     const contract::Operation& operation,
                     const std::vector<BatchItem>& items,
                     std::string_view shape = "ws.batch");

/// One call after another. A single one is printed as it came; several as `{"data": [{ok, id, result | error}]}`.
/// What one refuses does not stop the others (then it ends with `partial`). What concerns them all - the key, the
/// network, a signal - ends it: as itself where nothing was done yet, else the rest is shown as not sent.
Result<ExitCode> run_batch(Session& session,
                           Client& client,
                           const contract::Operation& operation,
                           const std::vector<std::string>& ids,
                           std::vector<Call> calls);

}  // namespace ws::cli
