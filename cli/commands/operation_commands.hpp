/// Any operation of the table as a command: its arguments, flags, limits and checks are read off the table.
#pragma once

#include <string>
#include <string_view>

#include "api-client/client.hpp"
#include "cli/command.hpp"
#include "cli/session.hpp"

namespace ws::cli {

/// The operation under the words of its own command: `ws workspaces create NAME`.
Command operation_command(const contract::Operation& operation);
/// The operation by its id, every parameter a flag: `ws call docs.get --document-id ID`.
Command call_command(const contract::Operation& operation);

/// The call that words and flags describe: --body first, then the members' own flags, then -F and -J. Fails with
/// `usage`; nothing has been sent.
Result<Call> build_call(Session& session, const contract::Operation& operation);

/// Checks the call against the published limits (not with --no-validate); an assumed limit is a note on stderr. Fails
/// with `usage`, naming flag and limit.
Result<void> check_call(Session& session, const contract::Operation& operation, const Call& call);

/// Checks the call and settles its idempotency key: all that comes before it is shown or sent. Fails as `check_call`
/// and `settle_idempotency_key` do.
Result<void> make_ready(Session& session, const contract::Operation& operation, Call& call);

/// The operation on every id that words and `--stdin` name (`batch.hpp`).
Result<ExitCode> run_on_ids(Session& session, const contract::Operation& operation);

/// Checks and sends, pages where asked to, prints what came; with --dry-run prints the request instead.
Result<ExitCode> run_call(Session& session, const contract::Operation& operation, Call call);
/// The request as it would be sent, without the key.
Result<ExitCode> print_request(Session& session, const Call& call);

/// Sets a path or query parameter, or else the member of the body, by its name in the table.
void set_member(const contract::Operation& operation, Call& call, std::string_view name, const Json& value);

}  // namespace ws::cli
