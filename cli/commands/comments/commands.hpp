/// Comment threads.
#pragma once

#include <span>

#include "cli/grammar/command.hpp"
#include "cli/output/view.hpp"

namespace ws::cli {

Command comments_add_command();
Command comments_reply_command();
Command comments_resolve_command();
Command comments_reopen_command();
Command comments_reanchor_command();

// views.cpp
std::span<const View> comments_views();

}  // namespace ws::cli
