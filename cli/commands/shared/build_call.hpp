/// A call of an operation, built from the arguments of a command and checked before it is sent.
#pragma once

#include <functional>
#include <string_view>

#include "api-client/client/client.hpp"
#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// Whether its answer is a list; such a command takes --limit, --cursor, --all and --max-items.
bool is_list(const contract::Operation& operation);
/// `limit` and `cursor` of a list are filled by the paging flags, not by flags of their own.
bool is_paging(const contract::Operation& operation, std::string_view name);
/// A member called like a flag of every command has no flag; it is reached by -F.
bool is_global_flag(std::string_view name);
/// A parameter or a member of the body; null where there is none.
const contract::Field* find_member(const contract::Operation& operation, std::string_view name);

/// Sets what a command's own words and flags say, in a body that is an object.
using FillBody = std::function<Result<void>(Json& body)>;

/// The call that words and flags describe: --body first, then words and flags, `fill` last of these, then -F and -J,
/// which win. Fails with `usage`; nothing has been sent.
Result<Call> build_call(Session& session, const contract::Operation& operation, const FillBody& fill = {});

/// Checks the call against the published limits (not with --no-validate); an assumed limit is a note on stderr. Fails
/// with `usage`, naming flag and limit.
Result<void> check_call(Session& session, const contract::Operation& operation, const Call& call);

/// Whether the answer of a change can have the members that --fields and --template name: asked before it is made.
/// Fails with `usage`.
Result<void> check_named_members(Session& session, const contract::Operation& operation);

/// Checks the call and settles its idempotency key: all that comes before it is shown or sent. Fails as `check_call`
/// and `settle_idempotency_key` do.
Result<void> make_ready(Session& session, const contract::Operation& operation, Call& call);

/// The integer of `--limit` or `--max-items`; empty where it is not given. Fails with `usage`.
Result<std::optional<std::int64_t>> count_flag(const Session& session, std::string_view flag, std::string_view limits);
/// The most items that a page may have.
inline constexpr std::int64_t largest_page = 100;

/// --limit, --cursor into the call; without --limit, --all asks for the most a page can hold. Fails with `usage`:
/// no integer, or a cursor where the API has none.
Result<void> apply_paging_flags(Session& session, const contract::Operation& operation, Call& call);

/// Sets a path or query parameter, or else the member of the body, by its name in the table.
void set_member(const contract::Operation& operation, Call& call, std::string_view name, const Json& value);

}  // namespace ws::cli
