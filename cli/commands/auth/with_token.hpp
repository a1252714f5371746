/// `ws login --with-token`: stores a key that somebody already has.
#pragma once

#include <functional>

#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// Reads the key from stdin, asks the server whose it is, and stores it where `agree_on_store` says. Fails with `usage`
/// where stdin holds none, as the server does where it does not accept it.
Result<ExitCode> login_with_token(Session& session, const std::function<Result<KeptIn>(Session&)>& agree_on_store);

}  // namespace ws::cli
