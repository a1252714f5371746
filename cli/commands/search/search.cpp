// Searching, with the words that were searched for marked in what was found.
#include <nlohmann/json.hpp>

#include "api-client/contract/operations.hpp"
#include "cli/commands/shared/commands.hpp"
#include "cli/commands/shared/operation_commands.hpp"

namespace ws::cli {
namespace {

Result<ExitCode> search(Session& session) {
  const contract::Operation& operation = *contract::find_operation("search.run");
  WS_LET(Call call, build_call(session, operation));
  if (const auto query = find_text(*call.body, "query")) session.printer().know("query", *query);
  return run_call(session, operation, std::move(call));
}

}  // namespace

Command search_command() {
  return operation_command(
      "search.run",
      {.examples = {"ws search anchor chain", "ws search 'tides' --json --jq '.data[].title'"}, .run = search});
}

}  // namespace ws::cli
