/// Search.
#pragma once

#include "cli/grammar/command.hpp"

namespace ws::cli {

Command search_command();

}  // namespace ws::cli
