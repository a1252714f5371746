/// Pages of a list, and how an answer is printed.
#pragma once

#include "api-client/client.hpp"
#include "cli/session.hpp"

namespace ws::cli {

/// --limit, --cursor into the call; without --limit, --all asks for the most a page can hold. Fails with `usage`:
/// no integer, or a cursor where the API has none.
Result<void> apply_paging_flags(Session& session, const contract::Operation& operation, Call& call);

/// Whether more than one page was asked for.
bool pages(const Session& session, const contract::Operation& operation);

/// Page after page until the end, --max-items or a cursor that repeats (a failure). One document with
/// `next_cursor: null`; NDJSON and ids are printed as they come.
Result<ExitCode> print_pages(Session& session, Client& client, const contract::Operation& operation, Call call);

/// One answer: a list or a resource, in the format that was asked for. Says on stderr when there is more.
void print_reply(Session& session, const contract::Operation& operation, const Reply& reply);

}  // namespace ws::cli
