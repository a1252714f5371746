/// `ws merge` as git's merge driver: what `--install` writes, and what is left to git where ws fails.
#pragma once

#include "cli/commands/shared/session.hpp"

namespace ws::cli {

/// `ws merge --install` and `--uninstall`: two lines of a file of attributes, two values of git's config. Everything
/// else in both stays byte for byte. Fails with `usage` where git is missing or the folder is in no repository, with
/// `conflict` where another program has the driver's name, and with `disk`.
Result<ExitCode> set_up_driver(Session& session);

}  // namespace ws::cli
