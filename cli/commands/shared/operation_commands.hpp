/// Any operation of the table as a command: its arguments, flags, limits and checks are read off the table.
#pragma once

#include <string_view>

#include "api-client/client/client.hpp"
#include "cli/commands/shared/build_call.hpp"
#include "cli/commands/shared/session.hpp"
#include "cli/grammar/command.hpp"

namespace ws::cli {

/// The operation under the words of its own command: `ws workspaces create NAME`.
Command operation_command(const contract::Operation& operation);
/// The same with parts of its own: what `own` says stands in place of what the table says, and its flags before the
/// operation's, of which it does not have those named by `without`.
Command operation_command(std::string_view id, Command own, const std::vector<std::string_view>& without = {});
/// The operation by its id, every parameter a flag: `ws call docs.get --document-id ID`.
Command call_command(const contract::Operation& operation);

/// The operation on every id that words and `--stdin` name (`batch.hpp`).
Result<ExitCode> run_on_ids(Session& session, const contract::Operation& operation);

/// Checks and sends, pages where asked to, prints what came; with --dry-run prints the request instead.
Result<ExitCode> run_call(Session& session, const contract::Operation& operation, Call call);
/// The request as it would be sent, without the key.
Result<ExitCode> print_request(Session& session, const Call& call);
/// Its method, address, headers and body.
Result<Json> request_to_json(Session& session, const Call& call);
/// These as JSON or in lines. `body`: as JSON shows it.
ExitCode print_prepared(Session& session, const http::Request& request, const Json& body);

}  // namespace ws::cli
