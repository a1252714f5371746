/// Pages of a list, and how an answer is printed.
#pragma once

#include "api-client/client.hpp"
#include "cli/session.hpp"

namespace ws::cli {

/// Whether its answer is a list; such a command takes --limit, --cursor, --all and --max-items.
bool is_list(const contract::Operation& operation);

/// --limit, --cursor into the call; without --limit, --all asks for the most a page can hold. Fails with `usage`:
/// no integer, or a cursor where the API has none.
Result<void> apply_paging_flags(Session& session, const contract::Operation& operation, Call& call);

/// Sends the call of a list and prints what the flags ask for. Pages are followed until the end, --max-items or what
/// `PageGuard` refuses, and are one document with `next_cursor: null`; NDJSON and ids are printed as they come. A list
/// that the API gives in one answer is cut here, and stderr says so. Fails with `internal` (`unusable_answer`) where
/// the API document promises a list and none came.
Result<ExitCode> print_list(Session& session, Client& client, const contract::Operation& operation, Call call);

/// One answer: a list or a resource, in the format that was asked for. Says on stderr when there is more, and when
/// what should be a list is none.
void print_reply(Session& session, const contract::Operation& operation, const Reply& reply);

}  // namespace ws::cli
