/// Pages of a list, and how an answer is printed.
#pragma once

#include "api-client/client/client.hpp"
#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// Sends the call of a list and prints what the flags ask for. Pages are followed until the end, --max-items or what
/// `PageGuard` refuses, and are one document with `next_cursor: null`; NDJSON and ids are printed as they come. A list
/// that the API gives in one answer is cut here, and stderr says so. Fails with `internal` (`unusable_answer`) where
/// the API document promises a list and none came.
Result<ExitCode> print_list(Session& session, Client& client, const contract::Operation& operation, Call call);

/// One answer: a list or a resource, in the format that was asked for. Says on stderr when there is more, and when
/// what should be a list is none.
ExitCode print_reply(Session& session, const contract::Operation& operation, const Reply& reply);

/// What `last` names from now on, where the answer of the operation is one thing.
void remember_answer(Session& session, const contract::Operation& operation, const Json& value);

/// A list of ours: `{v: 1, data: [...], ...}`. Where a person would see none, stderr says what its view says of that,
/// or `none`.
ExitCode print_own_list(Session& session, std::string_view shape, const Json& whole, std::string_view none = {});

}  // namespace ws::cli
