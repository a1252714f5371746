/// Comment threads.
#pragma once

#include "cli/grammar/command.hpp"

namespace ws::cli {

Command comments_add_command();
Command comments_reply_command();
Command comments_resolve_command();
Command comments_reopen_command();
Command comments_reanchor_command();

}  // namespace ws::cli
